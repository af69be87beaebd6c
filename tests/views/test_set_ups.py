"""What is wrong with the set-ups of a form, and the code that does the same."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from smtc_lab.catalog.own_cpu_speed import own_cpu_speed
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.views.code.set_ups import checked_set_ups, first_jobs
from smtc_lab.views.comparison.bundle import snapshot_of
from tests.kit.comparison_runs import HOMOGENEOUS
from tests.kit.comparisons import example_comparison

ARGUMENTS = Path(__file__).parents[1] / "fixtures" / "arguments.json"


def test_set_ups_of_this_machine_are_not_emulated_and_others_are() -> None:
    emulated, here = (job.model_dump(mode="json") for job in first_jobs())
    emulated["emulation"] = None
    here["cluster"]["instance_groups"][0]["instance_type"] = "local"
    del here["cluster"]["instance_groups"][1]

    checked = checked_set_ups([emulated, here], 3)

    assert [job.emulation for job in checked.jobs] == [Emulation(), None]


def test_the_cell_of_a_set_up_launches_it_alone() -> None:
    values = [job.model_dump(mode="json") for job in first_jobs()]

    checked = checked_set_ups(values, 3)

    assert [cell.count("lab.TrainingJob(") for cell in checked.cells] == [1, 1]
    assert all("run = lab.launch(job)" in cell for cell in checked.cells)


def test_a_comparison_of_one_cluster_alone_can_be_kept() -> None:
    comparison, runs = example_comparison((HOMOGENEOUS,))

    kept = snapshot_of(ComparisonOutcome(comparison=comparison, runs=tuple(runs))).as_dict()

    assert [set_up["label"] for set_up in kept["info"]["set_ups"]] == ["homogeneous"]
    assert kept["info"]["rounds"] == len(runs)
    assert kept["tables"].keys() == {f"{place}/steps" for place in range(len(runs))}


@pytest.mark.parametrize("case", json.loads(ARGUMENTS.read_text(encoding="utf-8")))
def test_the_form_splits_arguments_as_a_shell_does(case: dict[str, Any]) -> None:
    if case["arguments"] is None:
        with pytest.raises(ValueError, match=r"No closing quotation|No escaped character"):
            shlex.split(case["text"])
    else:
        assert shlex.split(case["text"]) == case["arguments"]


def test_arguments_stand_in_the_code_and_a_line_that_is_not_closed_cannot_be_run() -> None:
    first, second = (job.model_dump(mode="json") for job in first_jobs())
    first["arguments"] = ["--dummy", "two words"]

    checked = checked_set_ups([first, second], 3)

    assert [job.arguments for job in checked.jobs] == [("--dummy", "two words"), ()]
    assert 'arguments=["--dummy", "two words"]' in checked.code
    assert 'arguments=["--dummy", "two words"]' in checked.cells[0]
    second["arguments"] = "--name 'two"
    refused = checked_set_ups([first, second], 3)
    assert refused.jobs == ()
    assert refused.problems == ((), ('TrainingJob.arguments="--name \'two" must be a list.',))


def test_a_type_that_the_catalog_has_not_is_a_problem_with_the_nearest() -> None:
    value = first_jobs()[0].model_dump(mode="json")
    value["cluster"]["instance_groups"][0]["instance_type"] = "ml.p3.3xlarge"

    checked = checked_set_ups([value], 1)

    ((problem,),) = checked.problems
    assert problem.startswith("Instance type 'ml.p3.3xlarge' is not one of")
    assert "ml.p3.2xlarge" in problem
    assert checked.jobs == ()


def test_a_form_is_told_what_a_command_line_is(tmp_path: Path) -> None:
    own_cpu_speed()
    values = [job.model_dump(mode="json") for job in first_jobs()]
    (tmp_path / "train.py").write_text("import torch\n", encoding="utf-8")
    for value in values:
        value["entry_point"] = "train.py"

    checked = checked_set_ups(values, 3, folder=tmp_path)

    assert checked.problems == ((), ())
    assert checked.jobs[0].entry_point == "train.py"
    assert len(checked.cautions) == 2
    assert "through torch's own dataloader" in checked.cautions[0]
    assert checked.cautions[1].startswith("This takes at least ")
    assert "6 launches of 32 steps" in checked.cautions[1]


def test_a_form_takes_a_device_time_for_each_kind_of_accelerator() -> None:
    values = [job.model_dump(mode="json") for job in first_jobs()]
    for value, name in zip(values, ("ml.p3.2xlarge", "ml.p4d.24xlarge"), strict=True):
        value["cluster"]["instance_groups"][0]["instance_type"] = name
        value["emulation"]["device_step_time_s"] = "V100=0.03,A100=0.012"

    checked = checked_set_ups(values, 3)

    devices_s = [job.emulation and job.emulation.device_step_time_s for job in checked.jobs]
    assert devices_s == [0.03, 0.012]
    assert "device_step_time_s=0.012" in checked.code


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("T4=0.03", "trains on NVIDIA V100, but device times are given for T4. Add V100=SEC"),
        ("soon", "device_time='soon' is no time above 0. Write seconds of a step, 0.03, or"),
    ],
)
def test_a_device_time_that_cannot_be_is_told_at_its_field(text: str, told: str) -> None:
    value = first_jobs()[0].model_dump(mode="json")
    value["emulation"]["device_step_time_s"] = text

    ((problem,),) = checked_set_ups([value], 3).problems

    assert problem.startswith(f"Emulation.device_step_time_s='{text}': ")
    assert told in problem


def test_a_form_waits_for_no_benchmark_to_tell_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smtc_lab.views.code.set_ups.known_cpu_speed", lambda: None)

    checked = checked_set_ups([job.model_dump(mode="json") for job in first_jobs()], 3)

    assert checked.cautions == ()
