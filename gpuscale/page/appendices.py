"""The generated pages at the end of the book: notation, formula index, hardware tables."""

from __future__ import annotations

from gpuscale import specs
from gpuscale.catalogue import search, sweep
from gpuscale.core.cards import call, equation, limit, worded
from gpuscale.core.html import Head, Html, anchor, cite, element, escape, heading, region, script_json, table
from gpuscale.core.latex import inline
from gpuscale.specs.html import provenance, specs_table
from gpuscale.specs.number import MISSING
from gpuscale.symbols import flop, quantities
from gpuscale.units import NBSP, SCALE, WORDS, show


def notation() -> Html:
    """Every quantity of the library: symbol, name in Python, unit, meaning, other names."""
    them = [q for q in quantities().values() if q is not flop]
    rows = []
    for q in them:
        unit = escape(q.unit) if q.unit != "1" else "–"
        also = f'<small class="note">elsewhere: {escape(q.also)}</small>' if q.also else ""
        rows.append((inline(q), f"<code>{q.name}</code>", unit, f"{escape(q.meaning)} {also}"))
    heads, ids = ["Symbol", "In Python", "Unit", "Meaning"], [f"symbol-{q.name}" for q in them]
    return Html(
        region("Notation", table(heads, rows, "plain-table notation", ids=ids)),
        "\n".join(f"{q.name} [{q.unit}] {q.meaning}" for q in them),
    )


def units() -> Html:
    """The base units and what they measure."""
    rows = [(escape(u), escape(w)) for u, w in WORDS.items()]
    return Html(
        region("Units", table(["Base unit", "Measures"], rows)), "\n".join(f"{u}: {w}" for u, w in WORDS.items())
    )


def formula_search() -> Html:
    """The box that filters the formula index; hidden where no script runs, so that a notebook shows nothing of it."""
    return Html(
        '<div class="filter" role="search" aria-label="Formulas" hidden>'
        '<label for="formula-filter">Filter by name, symbol, synonym or source</label>'
        '<input type="search" id="formula-filter" placeholder="busbw, fat tree, V_rank, MoE" '
        'autocomplete="off" autocapitalize="none" spellcheck="false">'
        f'<output for="formula-filter"></output>{script_json(search.index())}</div>',
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
    return Html(
        element("div", *(_entry(key, f) for key, f in found.items()), class_="formula-index"),
        "\n".join(f"{k}: {f!r}" for k, f in found.items()),
    )


def _entry(key: str, f) -> str:
    return element(
        "section",
        heading(f.title, call(f)),
        equation(f),
        f'<p class="note">Holds {worded(f.assumes)}. Source: {cite(f.source)}.</p>',
        f'<p class="note">Tends to {inline(f.approx)} as {limit(f)}.</p>' if f.approx is not None else "",
        class_="entry",
        id=f"index-{anchor(key)}",
    )


GROUPS = {
    "Units of a GPU": {
        "sm": "SMs",
        "tensor_cores_per_sm": "Tensor Cores per SM",
        "fp32_lanes_per_sm": "fp32 lanes per SM",
        "base_clock": "base clock",
        "boost_clock": "boost clock",
        "tensor_clock": "clock of the Tensor Cores",
    },
    "Memory": {
        "register_file_per_sm": "registers per SM",
        "smem_l1_per_sm": "shared memory and L1 per SM",
        "tmem_per_sm": "TMEM per SM",
        "l2": "L2",
        "hbm": "HBM",
        "hbm_bw": "HBM bandwidth",
    },
    "Arithmetic, dense": {
        "fp64": "fp64",
        "fp32": "fp32 vector",
        "tf32": "tf32",
        "fp16": "fp16",
        "bf16": "bf16",
        "fp8": "fp8",
        "int8": "int8",
        "fp4": "fp4",
    },
    "Links, one direction": {
        "nvlink_bw": "NVLink per GPU",
        "host_bw": "to the host over C2C",
        "pcie_bw": "PCIe",
        "nic_bw": "network per GPU",
    },
}


def hardware(group: str):
    """One group of the tables, for every chip that has any of its numbers. Raises KeyError for another group."""
    fields = GROUPS[group]
    parts = [p for p in specs.chips().values() if any(f in p for f in fields)]
    return specs.table(parts, {f: t for f, t in fields.items() if any(f in p for p in parts)}, caption=group)


NETWORK = {
    "Links and NICs, one direction": {
        "bw": "interface",
        "links": "links",
        "link_bw": "one link",
        "lanes": "lanes",
        "latency": "latency",
    },
    "Switches": {
        "switch_generation": "generation",
        "switch_ports": "ports",
        "link_bw": "one port, one direction",
        "node_gpus": "GPUs joined",
        "node_switches": "by switches",
        "power": "power",
    },
    "Transceivers and cables": {"bw": "one direction", "power": "power"},
    "Interconnects of TPUs": {
        "links": "links per chip",
        "link_bw": "one link, one direction",
        "latency": "latency of a hop",
        "pod_chips": "chips of a pod",
        "slice_chips": "chips of a slice",
    },
}


def network(group: str):
    """One group of the tables of links, switches and cables. Raises KeyError for another group."""
    fields = NETWORK[group]
    parts = [p for p in specs.links().values() if _group(p) == group]
    return specs.table(parts, fields, caption=group)


MODELS = {
    "Shape": {
        "layers": "layers",
        "d_model": "width",
        "d_ff": "feed-forward width",
        "heads": "query heads",
        "kv_heads": "key and value heads",
        "vocab": "vocabulary",
        "params": "parameters, as named",
    },
    "Experts": {
        "experts": "experts",
        "active_experts": "of them for a token",
        "shared_experts": "for every token",
        "dense_layers": "layers without",
        "active_params": "parameters for a token, as named",
    },
}
RECIPES = {
    "weights": "weights",
    "gradients": "gradients",
    "master": "master copy",
    "moment": "each of two moments",
    "activations": "a number of the activations",
}


def models(group: str):
    """One group of the tables of models. Raises KeyError for another group."""
    fields = MODELS[group]
    parts = [p for p in specs.models().values() if next(iter(fields)) in p]
    return specs.table(parts, fields, caption=group)


def recipes():
    """Bytes that are kept for each parameter while a model trains."""
    caption = "Bytes for each parameter, and for each number of the activations"
    return specs.table(list(specs.parts("recipe").values()), RECIPES, caption=caption)


def _group(link: specs.Part) -> str:
    links, switches, cables, tpus = NETWORK
    if "pod_chips" in link:
        return tpus
    if "bw" not in link:
        return switches
    return cables if "power" in link else links


MEASURED = {
    "one node": (
        "allreduce_h200",
        "allreduce_small_h200",
        "nvls_by_gpu_count",
        "collectives_h200",
        "allreduce_azure",
        "collectives_h100",
        "allreduce_h100_figure",
        "allreduce_stated",
        "all_gather_stated",
        "allreduce_a100",
        "collectives_b200",
        "allreduce_points",
        "p2p_write",
    ),
    "several nodes": (
        "allreduce_h100_2_nodes",
        "collectives_h100_10_nodes",
        "collectives_by_gpus_per_node",
        "allreduce_b200",
        "allreduce_b200_nic",
        "allreduce_b200_earlier",
        "gb300_nvl72",
        "allreduce_mi300x",
    ),
    "experts": ("deepep_normal", "deepep_low_latency"),
    "TPUs": ("tpu_all_gather", "tpu_v7x_all_gather"),
    "training": ("megatron_weak_scaling", "llama3_stages", "deepseek_v3_cost"),
    "wiring": ("nvswitch_links", "dgx1_p100_links", "dgx1_v100_links", "superpod_components"),
}


def measured(group: str) -> Html:
    """One group of the published tables; the head of a column says where its numbers come from."""
    tables = [specs.measured(key) for key in MEASURED[group]]
    return Html("".join(map(_published, tables)), "\n\n".join(map(repr, tables)))


def _published(table: specs.MeasuredTable) -> str:
    columns = [table.column(name) for name in table.columns]
    shown = [i for i, c in enumerate(columns) if c.name != "part" or "chip" not in table.columns]
    heads = [_head(columns[i]) for i in shown]
    rows = ([escape(_cell(row[i], columns[i].unit)) for i in shown] for row in table.printed)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return specs_table(table.title, heads, rows, note)


def _head(column: specs.Column) -> Head:
    if column.unit == "text":
        return Head(escape(column.title))
    unit = column.unit.replace("us", "µs")
    title = column.title if unit in {"1", "B", "%"} else f"{column.title}, {unit}"
    printed = "numbers" if unit == "1" else f"in {unit}"
    return Head(provenance(title, printed, column.basis, column.source, column.note), "num")


def _cell(cell, unit: str) -> str:
    """A cell as printed, to six digits; chips and models by their short names, sizes with a whole binary prefix."""
    if isinstance(cell, str):
        part = specs.chips().get(cell) or specs.models().get(cell)
        return part.short if part else "–" if cell == MISSING else cell if len(cell) > 20 else cell.replace(" ", NBSP)
    if unit == "%":
        return f"{cell:g}%"
    if unit != "B":
        return f"{float(f'{cell:.6g}'):,.10g}"
    whole = (u for u in ("GiB", "MiB", "KiB") if (cell / SCALE[u][0]).is_integer() and cell < 1024 * SCALE[u][0])
    return show(cell, next(whole, "B"), short=True, digits=4)
