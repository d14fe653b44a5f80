"""Print the functions of ``gpuscale.printed`` from the formulas: ``make printed``, or

    python -m gpuscale.plan.printing

Run it after a change of a formula that the planner uses; a test fails where what is stored is not what is printed.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from pathlib import Path

import numpy as np
import sympy

import gpuscale.printed
from gpuscale import collectives, llm, symbols
from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.core.numerics import FUNCTIONS, steady
from gpuscale.plan import costs
from gpuscale.plan.calibration import FIXED, PRIORS
from gpuscale.plan.columns import NAMES, SOUGHT
from gpuscale.plan.explanation import FORMULAS as TERMS
from gpuscale.plan.explanation import MACHINES
from gpuscale.plan.programs import stored

FOLDER = Path(gpuscale.printed.__path__[0])
WIDE = 120  # characters of a line, where it can be broken
# What the planner evaluates one by one: counts of a model, its FLOPs, ranks that tokens reach, rates, states
FORMULAS = {
    llm: """mlp_params attention_params latent_attention_params moe_layer_params moe_active_layer_params
    routed_parameters layer_vectors moe_layer_vectors latent_layer_vectors embedding_params parameters moe_parameters
    active_parameters moe_active_parameters kv_token latent_kv_token mean_attention_flops mean_causal_attention_flops
    latent_attention_flops causal_latent_attention_flops token_flops nodes_hit limited_nodes_hit reached_bandwidth
    many_nodes level_time optimizer_bytes zero3_gpus""".split(),
    collectives: "hit_top_k nic_rate all_to_all_bus".split(),
}
# Formulas whose conditions are constraints on layouts
CONDITIONS = "whole_key_heads microbatches first_stage_held dualpipe_held".split()
# Names in printed code that are not numpy's
OTHERS = {
    "LogBinomial": "from gpuscale.core.floats import log_binomial as LogBinomial",
    "require": "from gpuscale.printed.calling import require",
}


def printed() -> dict[str, str]:
    """The text of every file by its name."""
    out = {"formulas.py": formulas(), "conditions.py": conditions(), "words.py": words()}
    return out | {f"{stored(*kind)}.py": programs(*kind) for kind in KINDS}


KINDS = [(schedule, latent) for schedule in costs.SCHEDULES for latent in (False, True)]


def formulas() -> str:
    """The file of single formulas; conditions on their inputs are checked first."""
    found = [function(getattr(room, name)) for room, names in FORMULAS.items() for name in names]
    return file("Formulas that the planner evaluates one by one.", found)


def conditions() -> str:
    """The file of the conditions of formulas: whether values keep them."""
    found = []
    for formula in (getattr(llm, name) for name in CONDITIONS):
        kept = sympy.And(*(need.relation for need in formula.needs))
        said = f"What {formula.room}.{formula.name} needs: that {' and that '.join(map(str, formula.needs))}."
        found.append(_defined(formula.name, _lambdified(kept), said))
    return file("Conditions of formulas that are constraints on layouts.", found)


def words() -> str:
    """The file of what an explanation says about formulas and constants."""
    bubbles = {schedule: parts[2].name for schedule, parts in costs.SCHEDULES.items()}
    sources = {name: getattr(llm, name).source for name in sorted({*TERMS.values(), *bubbles.values()})}
    moved = {name for more in MACHINES.values() for name in more}
    used = [getattr(symbols, name) for name in sorted({*PRIORS, *FIXED, *moved})]
    tables = {
        "SOURCES": ("Sources of formulas of gpuscale.llm.", sources),
        "BUBBLES": ("The formula of the idle time of each schedule.", bubbles),
        "MEANINGS": ("Meanings of quantities.", {q.name: q.meaning for q in used}),
        "MOSTS": ("Their largest values, where they have one.", {q.name: q.most for q in used if q.most < np.inf}),
    }
    return file("What an explanation says about formulas and constants.", [_table(n, *t) for n, t in tables.items()])


def _table(name: str, said: str, rows: dict) -> str:
    lines = "".join(f"    {json.dumps(key)}: {json.dumps(value)},\n" for key, value in rows.items())
    return f"# {said}\n{name} = {{\n{lines}}}"


def programs(schedule: str, latent: bool) -> str:
    """The file of a schedule: the columns by which a search decides, and all of them."""
    names = {step.value.name: step.formula.name for step in costs.compose(schedule, latent)[0]}
    said = {"search": "The columns by which a search decides.", "columns": "All columns."}
    wanted = {"search": SOUGHT, "columns": NAMES}
    found = []
    for name, columns in wanted.items():
        function, _ = costs.program(schedule, latent, columns)
        found.append(_defined(name, inspect.getsource(function), said[name], names))
    listed = "".join(f"    {_tuple(columns)}: {name},\n" for name, columns in wanted.items())
    kind = "latent attention" if latent else "attention"
    told = f"Plans with the schedule {schedule} and {kind}; behind a line, the formula of gpuscale.llm that it ends."
    return file(told, [*found, f"PROGRAMS = {{\n{listed}}}"])


def function(formula: Formula) -> str:
    """A formula as a function of numpy that checks its conditions first."""
    body = _lambdified(formula.rhs.xreplace({symbols.flop: sympy.S.One}))
    said = f"{formula.title}: {formula.room}.{formula.name}, {formula.lhs.name} [{formula.lhs.unit}]."
    checks = [
        f'    require({_expression(need.relation)}, "{formula.name}: expected that {need}")\n' for need in formula.needs
    ]
    return _defined(formula.name, body, said, checks=checks)


def _lambdified(expr) -> str:
    """The source of an expression as numpy code."""
    body = steady(expr)
    shared = not body.has(sympy.floor, sympy.ceiling)  # shared reciprocals could push a floor over its edge
    return inspect.getsource(sympy.lambdify(inputs(expr), costs.of_two(body), modules=[FUNCTIONS, "numpy"], cse=shared))


def _expression(relation) -> str:
    return ast.unparse(ast.parse(_lambdified(relation)).body[0].body[-1].value)


def _defined(name: str, source: str, said: str, names: dict[str, str] = {}, checks=()) -> str:  # noqa: B006
    """The source of a function under its name, with a docstring, and the formulas of its lines."""
    head, *lines = source.rstrip().split("\n")
    head = f"def {name}({head.split('(', 1)[1]}"
    out = [_wrapped(head, "", " " * (len(name) + 5)), f'    """{said}"""\n', *checks]
    for line in lines:
        start, equal, expr = line.partition(" = ")
        told = f"  # {names[start.strip()]}" if start.strip() in names else ""
        if line.startswith("    return [") and len(line) > WIDE:
            line = "    return [\n" + _wrapped(line[len("    return [") : -1] + ",", " " * 8) + "    ]"
        elif len(line) + len(told) > WIDE and equal and " " in expr:
            line = f"{start} = (\n{_wrapped(expr, ' ' * 8)}    )"
        out.append(f"{line}{told}\n")
    return "".join(out)


def _wrapped(text: str, indent: str, then: str | None = None) -> str:
    """A text in lines, each indented; ``then``: all but the first."""
    folded = {"initial_indent": indent, "subsequent_indent": indent if then is None else then}
    lines = textwrap.wrap(text, WIDE, **folded, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


def _tuple(columns: tuple[str, ...]) -> str:
    words = ", ".join(f'"{column}"' for column in columns)
    return f"(\n{_wrapped(words + ',', ' ' * 8)}    )"


def file(said: str, parts: list[str]) -> str:
    """A file of Python with what its code imports."""
    code = "\n\n\n".join(part.rstrip() for part in parts) + "\n"
    tree = ast.parse(code)
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    made = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    made |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    made |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    free = sorted(loaded - made)
    if strange := [name for name in free if name not in OTHERS and not hasattr(np, name)]:
        raise ValueError(f"printed code calls {', '.join(strange)}; expected a function of numpy, or a line in OTHERS")
    of_numpy = [name for name in free if name not in OTHERS]
    lines = [f"from numpy import {', '.join(of_numpy)}"] if of_numpy else []
    own = [OTHERS[name] for name in free if name in OTHERS]
    lines += ["", *own] if lines and own else own
    imports = "\n".join(lines) + "\n\n\n" if lines else ""
    return f'"""{said}\n\nPrinted by ``make printed``; do not edit.\n"""\n\n{imports}{code}'


def main() -> None:
    """Write the files, and remove those that are printed no more."""
    found = printed()
    for path in FOLDER.glob("plan_*.py"):
        if path.name not in found:
            path.unlink()
    for name, text in found.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(found)} files, {sum(map(len, found.values())) // 1000} kB, in {FOLDER}")


if __name__ == "__main__":
    main()
