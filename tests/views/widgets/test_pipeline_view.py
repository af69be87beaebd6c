from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

import smtc_lab as lab
from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from smtc_lab.parallel.pipeline.planning.planned import PipelinePlan

FIXTURE = Path(__file__).parents[2] / "fixtures" / "planned_cut.json"
LAYERS = [f"layers.{place}" for place in range(6)]


class Model(torch.nn.Module):
    """Six equal layers, and a head that takes as long as two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(6)))
        self.head = torch.nn.Linear(64, 128)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.layers(values))
        return out


def planned(**options: Any) -> PipelinePlan:
    given = {"device_step_s": 0.8, "limit_bytes": 300_000, "microbatches": 4, **options}
    with torch.device("meta"):
        return lab.plan_pipeline(
            Model(),
            torch.empty(32, 64),
            torch.empty(32, dtype=torch.long),
            torch.nn.functional.cross_entropy,
            pipeline=2,
            **given,
        )


def ask(picture: lab.PipelineView, content: object) -> dict[str, Any]:
    """Send what a browser would; return the answer."""
    data = {"method": "custom", "content": content}
    picture.comm.handle_msg({"content": {"data": data}, "buffers": []})
    told: dict[str, Any] = picture.cut
    return told


def test_a_picture_tells_what_the_fixture_of_the_browser_has() -> None:
    picture = lab.PipelineView(planned())

    told = {"model": picture.model, "cut": picture.cut}

    assert told == json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert [one["name"] for one in picture.model["modules"]] == [*LAYERS, "head"]
    assert sum(one["time"] for one in picture.model["modules"]) == pytest.approx(0.2)
    assert picture.model["best_starts"] == picture.cut["starts"] == [0, 4]
    assert repr(picture) == str(picture.planned)


def test_a_cut_that_is_asked_for_is_answered_with_its_plan() -> None:
    plan = planned()
    picture = lab.PipelineView(plan)

    told = ask(picture, {"type": "cut", "starts": [0, 2]})

    assert told["starts"] == [0, 2]
    assert told["answer"] == 1
    assert told["refused"] == ""
    assert told["step"] > plan.step.step_s == picture.model["best_step"]
    assert picture.pins == {"layers.1": 0, "layers.2": 1}
    assert picture.planned.stages == plan.pinned(picture.pins, is_limited=False).stages
    assert picture.distribution == lab.Distribution(
        pipeline=2, microbatches=4, pins=picture.pins, limit_bytes=300_000
    )
    made: dict[str, Any] = {}
    exec(picture.code, made)  # noqa: S102  it is what a user would run
    assert made["distribution"] == picture.distribution
    assert told["code"] == picture.code


def test_a_cut_with_activations_in_host_memory_is_given_to_a_job_so() -> None:
    picture = lab.PipelineView(planned(activation_offload=True, limit_bytes=None))

    assert picture.distribution.activation_offload
    assert "activation_offload=True" in picture.code
    assert "wait in host memory" in repr(picture)


def test_a_cut_that_does_not_fit_is_shown_with_what_it_would_hold() -> None:
    picture = lab.PipelineView(planned())

    told = ask(picture, {"type": "cut", "starts": [0, 6]})

    full, _ = told["stages"]
    assert told["refused"] == ""
    assert full["held_bytes"] > full["limit_bytes"] == 300_000
    with pytest.raises(EntryPointError, match="fits 300,000 bytes"):
        picture.planned.pinned(picture.pins)


@pytest.mark.parametrize(
    "starts",
    [
        *(None, "0, 3", {}, [], [0], [0, 1, 2], [1, 2], [0, 0], [0, 7], [0, -1]),
        *([0, 1.0], [0, "1"], [0, True], [0, None], [0, 10**30], [[0], [1]]),
    ],
)
def test_a_cut_that_is_none_is_refused_and_the_old_one_stays(starts: object) -> None:
    picture = lab.PipelineView(planned())
    before = picture.cut

    told = ask(picture, {"type": "cut", "starts": starts})

    assert told == {**before, "answer": 1, "refused": told["refused"]}
    assert "first modules of 2 stages" in told["refused"]


@pytest.mark.parametrize("content", [None, [], "cut", 7, {}, {"type": "cuts"}, {"type": ["x"]}])
def test_a_message_of_another_kind_changes_nothing(content: object) -> None:
    picture = lab.PipelineView(planned())
    before = picture.cut

    assert ask(picture, content) == before


def test_without_a_declared_time_all_times_are_shares_of_a_step() -> None:
    assert lab.PipelineView(planned(device_step_s=1.0)).model["unit"] == "fraction"
    assert lab.PipelineView(planned()).model["unit"] == "s"


def test_the_best_cut_is_the_automatic_one_whatever_the_plan_was_given() -> None:
    pins = {"layers.0": 0, "layers.1": 1}
    picture = lab.PipelineView(planned(pins=pins, limit_bytes=None))

    assert picture.pins == pins
    assert picture.model["best_starts"] == [0, 4]
    assert ask(picture, {"type": "cut", "starts": [0, 4]})["step"] == picture.model["best_step"]
