"""Every model in the data: the formulas, the list of its tensors, and the total that its makers print."""

import dataclasses

import pytest
from formulas.llm.independent_counting import is_matrix

from gpuscale import specs
from gpuscale.emulate import shapes
from gpuscale.llm import (
    attention_flops,
    counts,
    edge_stage_params,
    given,
    inner_stage_params,
    kv_token,
    model_counts,
    model_flops,
    token_flops,
)
from gpuscale.specs import SpecError

MODELS = pytest.mark.parametrize("key", specs.models())


def written_out(key: str) -> shapes.Model:
    part = specs.model(key)
    names = [f.name for f in dataclasses.fields(shapes.Model)]
    found = {name: part.get(name) for name in names if part.get(name) is not None}
    found.setdefault("head_dim", part.d_model // part.heads)
    return shapes.Model(**found)


@MODELS
def test_formula_and_list_of_tensors_agree(key):
    m, ours = written_out(key), counts(key)
    assert ours.P == shapes.size(shapes.tensors(m))
    last = m.layers - 1
    assert ours.P_vec == shapes.size(t for t in shapes.layer_tensors(m, last) if not is_matrix(t[0]))
    of = [shapes.size(t for t in shapes.layer_tensors(m, i) if is_matrix(t[0])) for i in (0, last)]
    assert of == [ours.P_attn + (ours.P_mlp or ours.P_moe), ours.P_attn + (ours.P_moe or ours.P_mlp)]
    assert (ours.layers_dense, ours.layers_moe) == (sum(map(m.dense, range(m.layers))), m.layers - ours.layers_dense)


@MODELS
def test_what_a_token_is_multiplied_by(key):
    m, ours = written_out(key), counts(key)
    forward = shapes.products(m, 1)
    assert ours.P_act == sum(p.inner * p.columns for p in forward if p.weight)
    assert ours.P_layer == sum(p.inner * p.columns for p in shapes.layer_products(m, m.layers - 1, 1) if p.weight)
    assert ours.V_kv == 2 * shapes.size(shapes.cached(m, 1))
    if not ours.mla:
        ops = given(attention_flops, key, S=1)
        assert given(token_flops, key, ops_attn=ops) == shapes.flops(forward)


def test_the_two_totals_of_gpt_3_differ():
    """One table of the paper prints 175.0 billion, another 174,600 million; the second is the count."""
    spec = specs.model("gpt3_175b").spec("params")
    assert counts("gpt3_175b").P == pytest.approx(spec.base, rel=5e-5)
    assert counts("gpt3_175b").P < spec.others[0].base - 0.05e9


@pytest.mark.parametrize("key", ["llama3_8b", "llama3_405b"])
def test_a_stage_at_an_end_has_one_of_the_two_vocabulary_matrices_more(key):
    edge, inner = (given(f, key, Y=8, N_stages=2) for f in (edge_stage_params, inner_stage_params))
    assert 8 * (edge - inner) == specs.model(key).vocab * specs.model(key).d_model


def test_a_model_of_ones_own(tmp_path):
    number = '{{ value = {}, unit = "1", basis = "mine", source = "me" }}'
    dims = {"layers": 2, "d_model": 8, "d_ff": 16, "heads": 2, "mlp_matrices": 3, "vocab": 10}
    lines = [f"{name} = {number.format(value)}" for name, value in dims.items()]
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(['kind = "model"', "[my_model]", 'title = "Mine"', *lines]))
    mine = specs.load(path)[0]
    m = shapes.Model(2, 8, 16, 2, 2, 4, 10)
    assert counts(mine).P == shapes.size(shapes.tensors(m)) and not counts(mine).moe
    assert given(kv_token, mine, b=2) == 2 * shapes.size(shapes.cached(m, 1))
    assert given(model_flops, mine, B=3, ops_attn=1) == 3 * 3 * (2 * counts(mine).P_act + 2)
    path.write_text("\n".join(['kind = "model"', "[my_model]", 'title = "Mine"', *lines[:-1]]))
    with pytest.raises(SpecError, match=r"Mine \(my_model\) has no 'vocab'; expected a number to count its n_vocab"):
        counts(specs.load(path)[0])


def test_every_number_that_is_counted_is_declared():
    fields = model_counts.FIELDS | model_counts.EXPERTS | model_counts.LATENT
    names = {f.name for f in dataclasses.fields(shapes.Model)}
    assert set(fields.values()) <= names
