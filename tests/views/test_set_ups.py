"""What is wrong with the set-ups of a form, and the code that does the same."""

from __future__ import annotations

from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.compare import ComparisonOutcome
from smtc_lab.views.code.set_ups import checked_set_ups, first_jobs
from smtc_lab.views.comparison.bundle import snapshot_of
from tests.kit.comparison_runs import HOMOGENEOUS
from tests.kit.comparisons import example_comparison


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
