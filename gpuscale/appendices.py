"""The generated pages at the end of the book: notation, formula index, hardware tables."""

from __future__ import annotations

from gpuscale import catalogue, specs
from gpuscale.display import Html, anchor, cite
from gpuscale.symbols import flop, quantities
from gpuscale.typeset import escape, inline, span, tex
from gpuscale.units import WORDS

TITLES = {
    "processor": "What a GPU does in a cycle",
    "occupancy": "Occupancy",
    "memory": "Moving bytes",
    "roofline": "The roofline",
}


def _scroll(label: str, head: list[str], rows: list[str], cls: str) -> str:
    top = "".join(f'<th scope="col">{h}</th>' for h in head)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table class="{cls}">'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def notation() -> Html:
    """Every quantity of the library: symbol, name in Python, unit, meaning, other names."""
    rows, plain = [], []
    for q in quantities().values():
        if q is flop:
            continue
        unit = escape(q.unit) if q.unit != "1" else "–"
        also = f'<small class="note">elsewhere: {escape(q.also)}</small>' if q.also else ""
        rows.append(
            f'<tr id="symbol-{q.name}"><td>{inline(q)}</td><td><code>{q.name}</code></td><td>{unit}</td>'
            f"<td>{escape(q.meaning)} {also}</td></tr>"
        )
        plain.append(f"{q.name} [{q.unit}] {q.meaning}")
    return Html(
        _scroll("Notation", ["Symbol", "In Python", "Unit", "Meaning"], rows, "plain-table notation"),
        "\n".join(plain),
    )


def units() -> Html:
    """The base units and what they measure."""
    rows = [f"<tr><td>{escape(u)}</td><td>{escape(w)}</td></tr>" for u, w in WORDS.items()]
    plain = "\n".join(f"{u}: {w}" for u, w in WORDS.items())
    return Html(_scroll("Units", ["Base unit", "Measures"], rows, "plain-table"), plain)


def formula_index(module: str) -> Html:
    """All formulas of a module with equation, conditions and source. Raises KeyError for a module without any."""
    found = {k: f for k, f in catalogue.formulas().items() if k.startswith(f"{module}.")}
    if not found:
        raise KeyError(f"no formulas in {module!r}; modules with formulas: {', '.join(modules())}")
    items = []
    for key, f in found.items():
        approx = ""
        if f.approx is not None:
            along = ", ".join(rf"{tex(q)} \to {tex(to)}" for q, to in f.regime)
            approx = f'<p class="note">Tends to {inline(f.approx)} as {span(along)}.</p>'
        items.append(
            f'<section class="entry" id="index-{anchor(key)}"><div class="head"><h3>{escape(f.title)}</h3>'
            f'<code class="note">{f.name}({", ".join(q.name for q in f.inputs)})</code></div>'
            f'<div class="equation" tabindex="0" role="region" aria-label="Equation: {escape(f.title)}">'
            f"{span(f'{tex(f.lhs)} = {tex(f.rhs)}', display=True)}</div>"
            f'<p class="note">Holds {escape(f.assumes)}. Source: {cite(f.source)}.</p>{approx}</section>'
        )
    return Html(
        f'<div class="formula-index">{"".join(items)}</div>',
        "\n".join(f"{k}: {f!r}" for k, f in found.items()),
    )


def modules() -> list[str]:
    """The modules that hold formulas, in the order of the book."""
    found = {k.rpartition(".")[0] for k in catalogue.formulas()}
    return sorted(found, key=lambda m: (list(TITLES).index(m) if m in TITLES else len(TITLES), m))


GROUPS = {
    "Units of a GPU": {
        "sm": "SMs", "tensor_cores_per_sm": "Tensor Cores per SM", "fp32_lanes_per_sm": "fp32 lanes per SM",
        "base_clock": "base clock", "boost_clock": "boost clock", "tensor_clock": "clock of the Tensor Cores",
    },
    "Memory": {
        "register_file_per_sm": "registers per SM", "smem_l1_per_sm": "shared memory and L1 per SM",
        "tmem_per_sm": "TMEM per SM", "l2": "L2", "hbm": "HBM", "hbm_bw": "HBM bandwidth",
    },
    "Arithmetic, dense": {
        "fp64": "fp64", "fp32": "fp32 vector", "tf32": "tf32", "fp16": "fp16", "bf16": "bf16", "fp8": "fp8",
        "int8": "int8", "fp4": "fp4",
    },
    "Links, one direction": {
        "nvlink_bw": "NVLink per GPU", "host_bw": "to the host over C2C", "pcie_bw": "PCIe",
        "nic_bw": "network per GPU",
    },
}  # fmt: skip


def hardware(group: str):
    """One group of the tables, for every chip that has any of its numbers. Raises KeyError for another group."""
    fields = GROUPS[group]
    parts = [p for p in specs.chips().values() if any(f in p for f in fields)]
    return specs.table(parts, {f: t for f, t in fields.items() if any(f in p for p in parts)}, caption=group)
