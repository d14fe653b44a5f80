"""Published tables on the page: every one is shown, sizes are whole, sources are in the column heads."""

import tomllib

from gpuscale import specs
from gpuscale.page import appendices
from gpuscale.specs.number import DATA
from gpuscale.units import GiB


def test_the_page_shows_every_table_and_link_once():
    written = tomllib.loads((DATA / "measured_network.toml").read_text(encoding="utf-8"))
    shown = [key for group in appendices.MEASURED.values() for key in group.split()]
    assert len(shown) == len(set(shown))
    assert {key for key, body in written.items() if isinstance(body, dict)} <= set(shown)
    rows = [
        repr(appendices.numbers(group)).count("\n") - 1
        for group, (kind, _) in appendices.GROUPS.items()
        if kind == "link"
    ]
    assert sum(rows) == len(specs.links()) and min(rows) > 0


def test_sizes_are_whole_and_sources_stand_in_the_heads():
    html = appendices.measured("one node").html
    assert '<td class="num">32\u00a0KiB</td>' in html and "<td>H200 SXM</td>" in html
    assert html.count("<table") == len(appendices.MEASURED["one node"].split()) == html.count("<caption>")
    assert 'data-source="Bekman, Machine Learning Engineering, all-reduce on 8 H200"' in html
    assert specs.measured("allreduce_h200").size[-1] == 16 * GiB


def test_models_have_their_names_and_shares_their_sign():
    html = appendices.measured("training").html
    assert f"<td>{specs.model('megatron_1_7b').short}</td>" in html and "megatron_1_7b" not in html
    assert '<td class="num">44%</td>' in html and ">fraction of peak</button>" in html
