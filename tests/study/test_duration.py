"""How long an emulated comparison takes here is told before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.run import launcher_named
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.duration import least_time_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def told(tmp_path: Path) -> Any:
    launcher = launcher_named("local", root=tmp_path)

    def told_of(**changes: Any) -> str:
        given = {"time_dilation": 20.0, "device_step_time_s": 0.03, **changes}
        steps = given.pop("max_steps", 100)
        jobs = [
            TrainingJob(
                entry_point="train.py",
                cluster=Cluster.parse(f"{name}@g=ml.p3.2xlarge:1"),
                emulation=Emulation(**given),
                max_steps=steps,
            )
            for name in "ab"
        ]
        return least_time_here(jobs, launcher.common_dilation, rounds=3)

    return told_of


def test_what_the_declared_device_takes_here_is_told(told: Any) -> None:
    assert told() == (
        "This takes at least 6 min here: 6 launches of 100 steps, each of which takes at least "
        "0.6 s (time dilation 20)."
    )


def test_what_takes_long_is_told_with_what_makes_it_shorter(told: Any) -> None:
    said = told(time_dilation=100.0)

    assert "at least 30 min here" in said
    assert "With 32 steps (max_steps, --steps) it would be 10 min" in said
    assert told(time_dilation=100.0, max_steps=32).startswith("This takes at least 10 min")


def test_what_nothing_is_known_of_is_not_told(told: Any) -> None:
    assert told(device_step_time_s=None) == ""


def test_of_unlike_devices_the_quickest_step_is_the_least(tmp_path: Path) -> None:
    launcher = launcher_named("local", root=tmp_path)
    jobs = [
        TrainingJob(
            entry_point="train.py",
            cluster=Cluster.parse(f"{seconds}@g=ml.p3.2xlarge:1"),
            emulation=Emulation(time_dilation=20.0, device_step_time_s=seconds),
            max_steps=10,
        )
        for seconds in (0.03, 0.01)
    ]

    said = least_time_here(jobs, launcher.common_dilation, rounds=1)

    assert said.startswith("This takes at least 11 s here: 2 launches of 10 steps")
    assert "at least 0.2 s (time dilation 20)" in said


def test_without_a_number_of_steps_it_is_told_how_one_is_chosen(told: Any) -> None:
    assert told(max_steps=None) == (
        "A launch of 10 steps first finds out how many fit into 3 min here. To choose their "
        "number give max_steps (--steps)."
    )
