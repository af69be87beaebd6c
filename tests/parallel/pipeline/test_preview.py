"""A pipeline told before it runs: orders of torch, played through, and the cut of a model."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import pytest
import torch

import smtc_lab as lab
from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.pipeline.played import StageTime, simulate
from smtc_lab.parallel.pipeline.cutting.pins import least_pins
from smtc_lab.parallel.pipeline.planning.order import compute_order
from smtc_lab.parallel.pipeline.schedules import SCHEDULES, schedule_kind

if TYPE_CHECKING:
    from smtc_lab.metrics.pipeline.played import SimulatedStep


def step(schedule: str, ranks: int, microbatches: int, **times: float) -> SimulatedStep:
    kind = schedule_kind(schedule)
    stages = ranks * kind.stages_per_rank(None)
    kind.check(ranks, stages, microbatches)
    order = compute_order(kind, ranks, stages, microbatches)
    taken = StageTime(**{"forward_s": 1.0, "backward_s": 1.0, "weight_s": 1.0, **times})
    return simulate(order, [taken] * stages)


@pytest.mark.parametrize("microbatches", [4, 8])
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    ("schedule", "chunks"),
    [("gpipe", 1), ("1f1b", 1), ("interleaved1f1b", 2), ("loopedbfs", 2)],
)
def test_a_bubble_is_that_of_the_formula(
    schedule: str, chunks: int, ranks: int, microbatches: int
) -> None:
    played = step(schedule, ranks, microbatches)

    # Narayanan et al. 2021: (p - 1) / (v m), where backward takes twice the forward
    assert played.bubble == pytest.approx((ranks - 1) / (chunks * microbatches))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_rank_computes_all_of_its_stages_once_and_one_thing_at_a_time(
    schedule: str,
) -> None:
    played = step(schedule, 4, 8)

    by_rank = [[one for one in played.computations if one.rank == rank] for rank in range(4)]
    assert len({(one.stage, one.microbatch, one.kind) for one in played.computations}) == len(
        played.computations
    )
    for own in by_rank:
        forwards = [one for one in own if one.kind == "forward"]
        assert len(forwards) == 8 * len({one.stage for one in own})
        for before, after in itertools.pairwise(own):
            assert before.end_s <= after.begin_s
    assert played.busy_s == (24.0 * len({one.stage for one in by_rank[0]}),) * 4


@pytest.mark.parametrize("schedule", ["zbvzerobubble", "dualpipev", "interleavedzerobubble"])
def test_gradients_of_weights_that_wait_fill_the_bubble(schedule: str) -> None:
    assert step(schedule, 4, 8).bubble < step("interleaved1f1b", 4, 8).bubble


def test_what_is_sent_delays_the_next_stage() -> None:
    # the first microbatch comes a second later, and its gradient too
    assert step("1f1b", 2, 2, send_s=1.0).step_s >= step("1f1b", 2, 2).step_s + 2


def test_what_a_card_sends_at_once_queues() -> None:
    played = step("gpipe", 2, 4, send_s=10.0)

    begins = [one.begin_s for one in played.computations if one.kind == "forward" and one.rank]
    assert begins == [11.0, 21.0, 31.0, 41.0]


def made() -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor]:
    wide = [torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()) for _ in range(6)]
    with torch.device("meta"):
        model = torch.nn.Sequential(*wide, torch.nn.Linear(64, 512)).to("meta")
        return model, torch.empty(32, 64), torch.empty(32, dtype=torch.long)


def test_a_model_without_memory_is_cut_and_told() -> None:
    model, inputs, targets = made()

    plan = lab.plan_pipeline(
        model, inputs, targets, torch.nn.functional.cross_entropy, pipeline=2, microbatches=8
    )

    assert [one.rank for one in plan.stages] == [0, 1]
    assert sum(one.share for one in plan.stages) == pytest.approx(1.0)
    # the head has 8/14 of the operations, so it is a stage of its own
    assert plan.stages[1].modules[-1] == "6"
    assert not any("5.0" in one.modules for one in plan.stages[1:])
    assert plan.stages[1].share == pytest.approx(8 / 14, abs=0.02)
    assert plan.stages[1].received_bytes == 4 * 64 * 4
    assert "6 alone is" in plan.sentence
    assert 1.0 < plan.speed_up < 1 / plan.stages[1].share
    assert plan.stages[1].modules[0] in str(plan)


def test_a_transfer_takes_the_latency_and_the_bytes_of_the_link() -> None:
    model, inputs, targets = made()
    loss_fn = torch.nn.functional.cross_entropy
    options: dict[str, Any] = {"pipeline": 2, "microbatches": 8, "link_gbps": 8e-3}
    plan = lab.plan_pipeline(model, inputs, targets, loss_fn, link_latency_s=0.5, **options)

    sent_s = 0.5 + plan.stages[1].received_bytes / 1e6
    assert [one.time.send_s for one in plan.stages] == pytest.approx([sent_s, 0.0])
    with pytest.raises(EntryPointError, match=r"link_latency_s=-1\. Give seconds"):
        lab.plan_pipeline(model, inputs, targets, loss_fn, link_latency_s=-1, **options)


def test_a_module_that_is_moved_changes_the_prediction() -> None:
    model, inputs, targets = made()
    best = lab.plan_pipeline(
        model, inputs, targets, torch.nn.functional.cross_entropy, pipeline=2, microbatches=8
    )

    moved = best.pinned({"4": 1, "5": 1})

    assert {"4.0", "5.0", "6"} <= set(moved.stages[1].modules)
    assert moved.pins["4.0"] == 1
    assert moved.step.step_s > best.step.step_s
    assert best.pinned({}).stages == best.stages
    with pytest.raises(EntryPointError, match="nowhere"):
        best.pinned({"nowhere": 1})


@pytest.mark.parametrize("starts", [[0, 1], [0, 5], [0, 10], [0, 12]])
def test_the_least_pins_cut_where_all_pins_do(starts: list[int]) -> None:
    model, inputs, targets = made()
    loss_fn = torch.nn.functional.cross_entropy
    plan = lab.plan_pipeline(model, inputs, targets, loss_fn, pipeline=2, microbatches=8)
    names = list(plan.pins)
    by_hand = plan.pinned({name: int(at >= starts[1]) for at, name in enumerate(names)})

    assert len(by_hand.least_pins) == 2
    assert plan.pinned(by_hand.least_pins).stages == by_hand.stages
    assert by_hand.unpinned().stages == plan.stages


@pytest.mark.parametrize(
    ("names", "stages", "pins"),
    [
        (["a.0", "a.1", "b.0", "b.1"], [0, 0, 1, 1], {"a": 0, "b": 1}),
        (
            ["a.0.x", "a.0.y", "a.1", "b"],
            [0, 1, 1, 2],
            {"a.0.x": 0, "a.0.y": 1, "a.1": 1, "b": 2},
        ),
        # a module that is called again has its first call's name before "#"
        (["a", "b", "a#2", "c"], [0, 0, 1, 1], {"b": 0, "a#2": 1}),
        (["a", "b", "a#2", "c"], [0, 1, 1, 1], {"a": 0, "b": 1, "a#2": 1}),
    ],
)
def test_pins_name_the_largest_modules_that_are_on_one_stage(
    names: list[str], stages: list[int], pins: dict[str, int]
) -> None:
    assert least_pins(names, stages) == pins


def test_a_cut_by_hand_may_hold_too_much_and_is_told() -> None:
    model, inputs, targets = made()
    loss_fn = torch.nn.functional.cross_entropy
    plan = lab.plan_pipeline(
        model, inputs, targets, loss_fn, pipeline=2, microbatches=8, limit_bytes=700_000
    )

    with pytest.raises(EntryPointError, match="bytes too large"):
        plan.pinned({"0": 0, "1": 1})
    told = plan.pinned({"0": 0, "1": 1}, is_limited=False)

    assert told.stages[1].held_bytes > 700_000 == told.stage_limit_bytes
    assert told.stages[0].held_bytes < 700_000


class Result:
    """What is no tensor, and holds one."""

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values


class Hiding(torch.nn.Linear):
    def forward(self, values: torch.Tensor) -> Result:  # type: ignore[override]
        return Result(super().forward(values))


class Finding(torch.nn.Linear):
    def forward(self, result: Result) -> torch.Tensor:  # type: ignore[override]
        return super().forward(result.values)


def test_activations_in_host_memory_leave_a_stage_one_layer_and_what_it_received() -> None:
    layers = [torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()) for _ in range(8)]
    model, targets = torch.nn.Sequential(*layers), torch.zeros(64, 64)

    def stages(**options: Any) -> Any:
        return lab.plan_pipeline(
            model,
            torch.zeros(64, 64),
            targets,
            torch.nn.functional.mse_loss,
            pipeline=2,
            microbatches=4,
            pins={"3": 0, "4": 1},
            **options,
        ).stages

    plain, moved = stages(), stages(activation_offload=True)

    assert [one.host_bytes for one in plain] == [0, 0]
    tensor = 16 * 64 * 4  # of a microbatch
    first, last = moved
    assert first.modules == plain[0].modules
    # two of four microbatches are in flight; each layer keeps its input and what gelu needs
    assert first.host_bytes == 2 * 4 * tensor + 2 * 4 * tensor
    parameters = 4 * 4 * (64 * 64 + 64) * 4
    assert first.held_bytes == parameters + 2 * tensor, "one layer's"
    # of the loss what it needs, as it is in no layer; and what the stage before sent
    of_loss = plain[1].held_bytes - parameters - 4 * 2 * tensor
    assert last.held_bytes == parameters + 2 * tensor + tensor + of_loss
    fits = first.held_bytes, last.held_bytes
    assert stages(activation_offload=True, limit_bytes=max(fits))
    with pytest.raises(EntryPointError, match="No cut into 2 stages fits"):
        stages(limit_bytes=max(fits))


def test_modules_that_hand_on_what_cannot_be_sent_stay_on_one_stage() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 4), Hiding(4, 4), Finding(4, 4), torch.nn.Linear(4, 4)
    )
    plan = lab.plan_pipeline(
        model,
        torch.ones(8, 4),
        torch.ones(8, 4),
        torch.nn.functional.mse_loss,
        pipeline=2,
        microbatches=2,
    )

    with pytest.raises(EntryPointError, match="1 and 2 have to be on one stage"):
        plan.pinned({"1": 0, "2": 1})
    many = {str(place): 0 for place in range(4)} | {f"{place}": 1 for place in (2, 3)}
    with pytest.raises(EntryPointError, match="1 and 2 have to be on one stage"):
        plan.pinned(many)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pipeline": 1}, "pipeline=1"),
        ({"microbatches": 5}, "5"),
        ({"microbatches": 1}, "at least 2"),
        ({"microbatches": 0}, "microbatches=0"),
        ({"schedule": "fast"}, "'fast' is not known"),
        ({"pipeline": 16, "microbatches": 16}, "at most"),
        ({"limit_bytes": 1e3}, "bytes too large"),
        ({"device_step_s": 0.0}, "device_step_s=0"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, float], words: str) -> None:
    model, inputs, targets = made()
    asked: dict[str, object] = {"pipeline": 2, "microbatches": 8, **options}

    with pytest.raises(EntryPointError, match=words):
        lab.plan_pipeline(model, inputs, targets, torch.nn.functional.cross_entropy, **asked)


class Slow(torch.nn.Module):
    """Takes long for few operations."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(64))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        time.sleep(0.5)  # far above what this machine needs for the others, however busy
        out: torch.Tensor = values * self.scale
        return out


def test_modules_can_count_with_what_they_take_here() -> None:
    torch.manual_seed(0)
    linear = [torch.nn.Linear(64, 64) for _ in range(4)]
    model = torch.nn.Sequential(Slow(), torch.nn.Dropout(), *linear)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    inputs, drawn = torch.randn(16, 64, requires_grad=True), torch.get_rng_state()

    by_operations, measured = (
        lab.plan_pipeline(
            model,
            inputs,
            inputs.detach(),
            torch.nn.functional.mse_loss,
            pipeline=2,
            microbatches=2,
            measure=measure,
        )
        for measure in (False, True)
    )

    assert "3" in by_operations.stages[0].modules  # half of the operations
    assert "3" not in measured.stages[0].modules
    assert measured.stages[0].share > 0.5
    assert measured.device_step_s > 0
    assert "what modules took here" in str(measured)
    assert all(one.grad is None for one in model.parameters())
    assert all(
        bool((value == before[name]).all()) for name, value in model.state_dict().items()
    )
    assert bool((torch.get_rng_state() == drawn).all())
