"""What a rank stores over a step, against what can be said without a simulation."""

import pytest

from gpuscale.llm import last_stage_activations, one_f_one_b_held
from gpuscale.schedules.pipelines.orders import one_f_one_b
from gpuscale.schedules.timelines.stored import stored


@pytest.mark.parametrize("stages", [1, 2, 4, 7])
def test_the_most_is_that_of_the_formula(stages):
    for rank in range(stages):
        most = max(moment.activations for moment in stored(stages, rank, 1, 2, 0.5, each=6, layers=3))
        assert most == 6 * one_f_one_b_held(N_stages=stages, i_stage=rank, N_MB=stages), rank


def test_its_end_is_that_of_the_timetable_and_nothing_is_left():
    run = stored(4, 1, 1, 2, 0.5, each=6, layers=3)
    assert run[-1] == (one_f_one_b(4, 4).makespan + 0.5, 0, 0, 0, 0)
    assert run[0] == (0, 0, 0, 0, 0)
    assert all(a.time <= b.time for a, b in zip(run, run[1:], strict=False))


def test_logits_meet_all_activations_and_the_buffers():
    run = stored(1, 0, 1, 2, 0.5, each=8, logits=3, forward=1, backward=5, again=2, layers=4)
    peak = max(run, key=lambda moment: sum(moment[1:]))
    assert peak == (1, 8, 3, 5, 2)
    assert sum(peak[1:3]) == last_stage_activations(L_stage=4, V_act=2, V_head=3, Y=1)
    gone = [moment.time for moment in run if not moment.logits and moment.buffers == 5]
    assert gone[0] == 1.5  # a quarter of the backward pass: its first layer


def test_what_is_offloaded_does_not_pile_up():
    run = stored(3, 0, 1, 2, 0, each=8, most=2, layers=4)
    assert max(moment.activations for moment in run) == 2
    full = [moment.time for moment in run if moment.activations == 2]
    assert full[0] == 0.25 and full[-1] == run[-1].time - 0.5  # the last quarters of the first and the last pass
