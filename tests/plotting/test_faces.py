"""What the package offers: each name once."""

import ast
from collections import Counter
from pathlib import Path

import gpuscale.plotting


def test_no_name_is_offered_twice():
    """Nor a file listed twice, of which the second would hide the first."""
    [call] = [
        node
        for node in ast.walk(ast.parse(Path(gpuscale.plotting.__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "face"
    ]
    offered = []
    for keyword in call.keywords:
        group = keyword.value if keyword.arg is None else ast.Dict([ast.Constant(keyword.arg)], [keyword.value])
        for file, names in zip(group.keys, group.values, strict=True):
            offered += [file.value, *names.value.split()]
    assert len(offered) > 40
    assert [name for name, times in Counter(offered).items() if times > 1] == []
