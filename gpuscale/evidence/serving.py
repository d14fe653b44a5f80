"""Measurements of serving on a page: each next to its bound, with a filter, and the bands of their kinds."""

from __future__ import annotations

from gpuscale.core.filter_box import filter_box
from gpuscale.core.html import Head, Html, anchor, cite, element, escape, region, table
from gpuscale.serving.measured import Bounded, measured_bounds
from gpuscale.serving.measured_kinds import Band, bounded_bands, over_expected, predicted_bands
from gpuscale.specs import chips, models, serving_metrics, serving_regimes, serving_rows
from gpuscale.specs.measured_serving import ServingRow
from gpuscale.units import show, spelled

COLUMNS = ("Measurement", Head("Measured", "num", "measured"))
COLUMNS += (Head("Bound", "num", "bound"),)
COLUMNS += (Head("Over bound", "num", "over the bound"), Head("Over estimate", "num", "over the estimate"))
COLUMNS += (Head("Limit", "", "limit"),)
FACTOR = {"digits": 3, "short": False}
NOT_TIMES = ("USD", "nodes", "J")


def serving_filter() -> Html:
    """The box that filters the rows; hidden where no script runs."""
    fields = {"engine": "All engines", "model": "All models", "gpu": "All GPUs", "limit": "All limits"}
    box = filter_box("Measurements of serving", fields, "DeepSeek, fp8, TP8")
    return Html(box, "The page has a box here that filters the rows. In Python: gpuscale.specs.serving_rows().")


def serving_table(regime: str) -> Html:
    """The rows of a regime with their bounds. Raises KeyError for an unknown regime."""
    title, bounds = serving_regimes()[regime], measured_bounds()
    rows = [row for row in serving_rows() if row.regime == regime]
    lines = [_cells(row, bounds.get(row.id)) for row in rows]
    ids = [anchor(row.id) for row in rows]
    notes = [note for series in dict.fromkeys(row.series for row in rows) if (note := _note(series, rows))]
    html = table(COLUMNS, lines, "ledger stack", ids=ids, stack=True, aria_label=f"Measurements: {title}")
    plain = "\n".join(_plain(row, bounds.get(row.id)) for row in rows)
    box = element("div", html, id=f"regime-{anchor(regime)}", class_="filtered")
    return Html("".join(notes) + box, plain)


def serving_bands() -> Html:
    """Each kind of measurements: how many, whether the formulas predict or only bound it, and how far off."""
    heads = ["What was measured", Head("Number", "num"), "Compared with", Head("Lowest ratio", "num")]
    heads += [Head("Highest ratio", "num")]
    lines = [_band(band) for band in (*predicted_bands().values(), *bounded_bands())]
    plain = "\n".join(" | ".join(line) for line in lines)
    return Html(region("Kinds of measurements", table(heads, [list(map(escape, line)) for line in lines])), plain)


def _band(band: Band) -> list[str]:
    ends = (show(end, "1", **FACTOR) for end in (band.lowest, band.highest))
    title, reference = band.title[0].upper() + band.title[1:], "estimate" if band.predicted else "bound"
    return [title, f"{len(band.rows)}", reference, *ends]


def _cells(row: ServingRow, one: Bounded | None) -> tuple[str, ...]:
    model, gpu = _model(row), _gpu(row)
    said = [part for part in (model and element("span", escape(model), data_model=model), _gpus(row)) if part]
    configured = ", ".join(filter(None, (_formats(row), row.parallel, _load(row))))
    more = [escape(f"{text}.") for text in (configured, serving_metrics()[row.metric].capitalize()) if text]
    engine = element("span", escape(f"{row.engine} {row.version}"), data_engine=row.engine)
    more += [
        f"{engine}; {cite(row.source)}.",
        *(escape(f"{text[0].upper()}{text[1:]}.") for text in _remarks(row) if text not in _shared(row.series)),
    ]
    first = element("span", ", ".join(said), data_gpu=gpu) + element("small", " ".join(more))
    measured = _amount(row, one.measured) if one else _printed(row)
    bound = _amount(row, one.bound) if one and one.bound else "–"
    limit = element("span", escape(one.limit), data_limit=one.limit) if one and one.limit else "–"
    timed = element("small", escape(one.thing)) if one and row.unit not in NOT_TIMES else ""
    return first, f"{escape(measured)} {timed}", escape(bound), _ratio(one), _estimate(one), limit


def _shared(series: str) -> tuple[str, ...]:
    """Remarks that all rows of a series have, said once above its regime's table."""
    rows = [row for row in serving_rows() if row.series == series]
    return tuple(text for text in _remarks(rows[0]) if len(rows) > 1 and all(text in _remarks(row) for row in rows))


def _note(series: str, rows: list[ServingRow]) -> str:
    said = " ".join(f"{text[0].upper()}{text[1:]}." for text in _shared(series))
    return element("p", element("small", element("b", escape(series)), ". ", escape(said))) if said else ""


def _ratio(one: Bounded | None) -> str:
    return show(one.ratio, "1", **FACTOR) if one and one.ratio else "–"


def _estimate(one: Bounded | None) -> str:
    return show(over_expected(one), "1", **FACTOR) if one and one.estimate else "–"


def _amount(row: ServingRow, value: float) -> str:
    if row.unit in ("USD", "nodes"):
        return show(value, "USD" if row.unit == "USD" else "1", short=True, digits=5)
    return f"{show(value, '1')} J" if row.unit == "J" else show(value, "s")


def _printed(row: ServingRow) -> str:
    return f"{row.value:,.10g} {spelled(row.unit)}"


def _model(row: ServingRow) -> str:
    return models()[row.model].short if row.model in models() else row.model


def _gpu(row: ServingRow) -> str:
    return chips()[row.chip].short if row.chip in chips() else row.chip


def _gpus(row: ServingRow) -> str:
    return f"{row.gpus:,} {_gpu(row)}" if row.gpus else _gpu(row)


def _formats(row: ServingRow) -> str:
    parts = [row.weights and f"weights {_format(row.weights)}", row.experts and f"experts {_format(row.experts)}"]
    return ", ".join(filter(None, [*parts, row.cache and f"cache {_format(row.cache)}"]))


def _format(name: str) -> str:
    return name.replace("_", " ")


def _load(row: ServingRow) -> str:
    parts = [row.batch and f"batch {row.batch:,}", row.input and f"{row.input:,} tokens in"]
    parts += [row.output and row.output > 1 and f"{row.output:,} out", row.size and f"{row.size:,} B"]
    parts += [row.draft and f"draft of {row.draft}"]
    return ", ".join(filter(None, parts))


def _remarks(row: ServingRow) -> list[str]:
    said = [row.assumed and f"Assumed: {row.assumed}", row.note.rstrip("."), row.flag and f"Flagged: {row.flag}"]
    return list(filter(None, [*said, row.outlier and f"Left out: {row.outlier}"]))


def _plain(row: ServingRow, one: Bounded | None) -> str:
    if one is None:
        return f"{row.id}: {_printed(row)}, no bound"
    what = f"{row.id}: {_amount(row, one.measured)}"
    return f"{what}, bound {_amount(row, one.bound)}, ratio {_ratio(one)}" if one.bound else f"{what}: {_estimate(one)}"
