"""The generated pages at the end of the book: notation, formula index, hardware tables."""

from importlib import import_module

from gpuscale import specs
from gpuscale.catalogue import search, sweep
from gpuscale.core.cards import call, equation, limit, worded
from gpuscale.core.filter_box import filter_box
from gpuscale.core.html import Html, anchor, breakable, cite, element, escape, heading, region, script_json, table
from gpuscale.core.latex import inline
from gpuscale.specs.number import known_fields
from gpuscale.specs.reading import KINDS
from gpuscale.symbols import flop, quantities
from gpuscale.units import WORDS

# The parts of the notation: the files that declare symbols. The parts of the book by the rooms of their formulas.
PARTS = ("one_gpu", "network", "llm", "parallel", "step", "serving", "fleet")
ROOMS = {"one_gpu": "One GPU", "network": "The network", "collectives": "Collectives", "llm": "Language models"}
ROOMS |= {"serving": "Serving"}


def symbol_filter() -> Html:
    """The box that filters the notation; hidden where no script runs."""
    fields = {"part": "All parts", "unit": "All units"}
    box = filter_box("Symbols", fields, "bandwidth, alpha, n_share", "symbols")
    return Html(box, "The page has a box here that filters the symbols.")


def notation(part: str) -> Html:
    """The quantities of a file of ``symbols``, such as "network": symbol, name in Python, unit, meaning, other names.

    Raises ValueError for another part.
    """
    if part not in PARTS:
        raise ValueError(f"no symbols in {part!r}; the parts are {', '.join(PARTS)}")
    taken = {q for before in PARTS[: PARTS.index(part)] for q in _declared(before)}
    them = [q for q in _declared(part) if q not in taken and q is not flop]
    rows = []
    for q in them:
        unit = escape(q.unit) if q.unit != "1" else "–"
        also = f'<small class="note">elsewhere: {escape(q.also)}</small>' if q.also else ""
        named = element("code", breakable(escape(q.name)), data_unit=unit)
        rows.append((inline(q), named, unit, f"{escape(q.meaning)} {also}"))
    heads, ids = ["Symbol", "In Python", "Unit", "Meaning"], [f"symbol-{q.name}" for q in them]
    plain = "\n".join(f"{q.name} [{q.unit}] {q.meaning}" for q in them)
    listed = region("Notation", table(heads, rows, "plain-table notation", ids=ids))
    return Html(element("div", listed, class_="filtered"), plain)


def _declared(part: str) -> list:
    """The quantities that a file of ``symbols`` knows, in the order of the notation."""
    names = vars(import_module(f"gpuscale.symbols.{part}"))
    return [q for q in quantities().values() if names.get(q.name) is q]


def units() -> Html:
    """The base units and what they measure."""
    rows = [(escape(u), escape(w)) for u, w in WORDS.items()]
    plain = "\n".join(f"{u}: {w}" for u, w in WORDS.items())
    return Html(region("Units", table(["Base unit", "Measures"], rows)), plain)


def formula_search() -> Html:
    """The box that filters the formula index; hidden where no script runs, so that a notebook shows nothing of it."""
    fields = {"part": "All parts", "unit": "All units"}
    words = script_json(search.index())
    return Html(
        filter_box("Formulas", fields, "busbw, fat tree, MoE", "formulas", words),
        'The page has a box here that filters the formulas. In Python: gpuscale.find("bus bandwidth").',
    )


def formula_index(file: str) -> Html:
    """All formulas of a file, such as "collectives.hierarchy": equation, conditions and source of each.

    Raises KeyError for a file without any.
    """
    module = f"gpuscale.{file}"
    found = {key: f for key, f in sweep.formulas().items() if f.module == module}
    if not found:
        there = ", ".join(name.removeprefix("gpuscale.") for name in sweep.modules())
        raise KeyError(f"no formulas in {file!r}; files with formulas: {there}")
    entries = [_entry(key, f) for key, f in found.items()]
    plain = "\n".join(f"{key}: {f!r}" for key, f in found.items())
    return Html(element("div", *entries, class_="formula-index"), plain)


def _entry(key: str, f) -> str:
    return element(
        "section",
        heading(f.title, call(f)),
        region(f"Equation: {f.title}", equation(f), kind="equation"),
        f'<p class="note">Holds {worded(f.assumes)}. Source: {cite(f.source)}.</p>',
        "".join(f'<p class="note">{inline(q)} may be left out of a call: it is 0 then.</p>' for q in f.optional),
        f'<p class="note">Tends to {inline(f.approx)} as {limit(f)}.</p>' if f.approx is not None else "",
        class_="entry",
        id=f"index-{anchor(key)}",
        data_part=ROOMS[key.partition(".")[0]],
        data_unit=f.lhs.unit if f.lhs.unit != "1" else "no unit",
    )


# Tables of parts: the kind of part, and the numbers that are shown; their titles are in the fields.
GROUPS = {
    "Units of a GPU": ("chip", "sm tensor_cores_per_sm fp32_lanes_per_sm base_clock boost_clock tensor_clock"),
    "Memory": ("chip", "register_file_per_sm smem_l1_per_sm tmem_per_sm l2 hbm hbm_bw"),
    "Arithmetic": ("chip", "fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4"),
    "Links of a GPU": ("chip", "nvlink_bw host_bw pcie_bw nic_bw"),
    "Links and NICs": ("link", "bw links link_bw lanes latency"),
    "Switches": ("link", "switch_generation switch_ports link_bw node_gpus node_switches power"),
    "Transceivers and cables": ("link", "bw power"),
    "Interconnects of TPUs": ("link", "links link_bw latency pod_chips slice_chips"),
    "Shape": ("model", "layers d_model d_ff heads kv_heads vocab params"),
    "Experts": ("model", "experts active_experts shared_experts dense_layers active_params"),
    "Bytes per parameter, and per element of the activations": (
        "recipe",
        "weights gradients master moment activations",
    ),
}


def numbers(group: str) -> Html:
    """One group of the tables of parts: those that have any of its numbers. Raises KeyError for another group."""
    kind, names = GROUPS[group]
    fields = names.split()
    parts = [p for p in specs.parts(kind).values() if any(f in p for f in fields)]
    if kind == "link":
        parts = [p for p in parts if _group(p) == group]
    return specs.table(parts, [f for f in fields if any(f in p for p in parts)], caption=group, ids=f"row {group}")


def _group(link: specs.Part) -> str:
    if "pod_chips" in link:
        return "Interconnects of TPUs"
    if "bw" not in link:
        return "Switches"
    return "Transceivers and cables" if "power" in link else "Links and NICs"


# Groups of the published tables.
MEASURED = {
    "one node": (
        "allreduce_h200 allreduce_small_h200 nvls_by_gpu_count collectives_h200 allreduce_azure collectives_h100 "
        "allreduce_h100_figure allreduce_stated all_gather_stated allreduce_a100 collectives_b200 allreduce_points "
        "p2p_write"
    ),
    "several nodes": (
        "allreduce_h100_2_nodes collectives_h100_10_nodes collectives_by_gpus_per_node allreduce_b200 "
        "allreduce_b200_nic allreduce_b200_earlier gb300_nvl72 allreduce_mi300x"
    ),
    "experts": "deepep_normal deepep_low_latency",
    "TPUs": "tpu_all_gather tpu_v7x_all_gather",
    "training": "megatron_weak_scaling llama3_stages llama3_hours deepseek_v3_cost",
    "wiring": "nvswitch_links dgx1_p100_links dgx1_v100_links superpod_components",
}


def measured(group: str) -> Html:
    """One group of the published tables; the head of a column says where its numbers come from."""
    names = {key: part.short for part in ("chip", "model") for key, part in specs.parts(part).items()}
    tables = [specs.measured(key).view(names) for key in MEASURED[group].split()]
    return Html("".join(t.html for t in tables), "\n\n".join(t.text for t in tables))


def single_sources() -> Html:
    """The numbers that nothing else in the data confirms, with their count, by part and by table."""
    rows, plain, alone = [], [], 0
    for part in (part for kind in KINDS for part in specs.parts(kind).values()):
        if marked := _marked(part):
            names, counts, cites = zip(*marked, strict=True)
            said, source = "; ".join(names), "; ".join(dict.fromkeys(cites))
            key = element("code", breakable(part.key), class_="note")
            of = f"{escape(part.title)} {key}".replace(" GB", "&nbsp;GB")
            rows.append((of, escape(said), cite(source)))
            plain.append(f"{part.title} ({part.key}): {said}")
            alone += sum(counts)
    count = f"{alone:,} numbers of the data rest on a single source."
    listed = region("Numbers from a single source", table(["Of", "Numbers", "Source"], rows))
    return Html(element("p", count) + listed, "\n".join([count, *plain]))


def _marked(part: specs.Part | specs.MeasuredTable) -> list[tuple[str, int, str]]:
    """What is marked as single in a part or a table: in words, how many numbers that are, and their source."""
    if isinstance(part, specs.MeasuredTable):
        columns = [column for column in map(part.column, part.columns) if column.single]
        return [(f"{c.title} ({len(c.single)} of {len(part)} rows)", len(c.single), c.source) for c in columns]
    lent = specs.capability(f"cc_{part.compute_capability.replace('.', '_')}") if "compute_capability" in part else None
    found = []
    for name, spec in part.specs.items():
        if lent and lent.specs.get(name) is spec:
            continue
        title = known_fields()[part.kind][name]["title"]
        found += [(f"{title} {spec.text}", 1, spec.source)] if spec.single else []
        found += [(f"{title} {o.as_printed}, not used", 1, o.source) for o in spec.others if o.single]
    return found
