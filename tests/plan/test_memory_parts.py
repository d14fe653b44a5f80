"""The memory of a GPU taken apart, against the formulas of its parts."""

import pytest

from gpuscale.llm import counts, given, head_activations, llama_activations, replicated_state, zero1_state, zero3_state
from gpuscale.plan import gpu_bytes
from gpuscale.plan.memory_parts import dims

SIZES = {"b_w": 2, "b_grad": 4, "b_opt": 12}


def test_a_single_gpu_holds_the_whole_state():
    found, P = gpu_bytes("llama3_8b"), counts("llama3_8b").P
    assert sum(found[:3]) == replicated_state(P=P, **SIZES)
    acts = 32 * given(llama_activations, "llama3_8b", n_seq=1, S=8192, b=2)
    assert found.activations == acts + given(head_activations, "llama3_8b", n_seq=1, S=8192, b=2, b_logit=4)
    assert found.working == found.host == 0


@pytest.mark.parametrize(("zero", "state"), [(1, zero1_state), (3, zero3_state)])
def test_zero_divides_what_it_shards(zero, state):
    P = counts("llama3_8b").P
    assert sum(gpu_bytes("llama3_8b", dp=8, zero=zero)[:3]) == pytest.approx(state(P=P, X=8, **SIZES))
    assert gpu_bytes("llama3_8b", dp=2, cp=4, zero=zero)[:3] == gpu_bytes("llama3_8b", dp=8, zero=zero)[:3]


def test_what_is_offloaded_is_in_the_hosts_memory():
    here, away = gpu_bytes("llama3_8b", dp=8, zero=1), gpu_bytes("llama3_8b", dp=8, zero=1, offload=["optimizer"])
    assert away.optimizer == 0 and away.host == here.optimizer
    assert away.memory == here.memory - here.optimizer
    away = gpu_bytes("llama3_8b", offload=["activations"])
    layer = given(llama_activations, "llama3_8b", n_seq=1, S=8192, b=2)
    head = given(head_activations, "llama3_8b", n_seq=1, S=8192, b=2, b_logit=4)
    assert away.activations == 2 * layer + head and away.host == 32 * layer


def test_the_numbers_of_a_model():
    assert dims("llama3_8b")["P"] == counts("llama3_8b").P and dims("llama3_8b")["F"] == 14336
    with pytest.raises(ValueError, match="expected a dense model"):
        dims("deepseek_v3")
