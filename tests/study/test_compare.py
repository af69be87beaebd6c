"""Comparisons of real runs of a script whose steps take a known time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.comparison.compare import compare
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import studies_root
from tests.kit.runs import processes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import Progress

    MakeJob = Callable[..., TrainingJob]

TIMED_STEPS = """
    import os, time
    from smtc_lab.runtime.instance_runtime import instance_runtime
    fed = os.environ["SM_IS_HETERO"] == "true"
    timer = instance_runtime().timer
    while not timer.is_done:
        timer.ask()
        time.sleep(0.002 if fed else 0.02)
        timer.got(8)
        timer.end()
"""
HOMOGENEOUS = "homogeneous@dnn_group=ml.p3.2xlarge:1"
HETEROGENEOUS = "fed@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"


def only_study(root: Path) -> ComparisonRun:
    (path,) = studies_root(root).iterdir()
    return ComparisonRun.open(str(path))


def test_the_faster_cluster_is_found_faster_and_its_saving_follows_from_the_prices(
    make_job: MakeJob, root: Path
) -> None:
    emulation = Emulation(device_step_time_s=0.001)
    jobs = [
        make_job(TIMED_STEPS, cluster=cluster, max_steps=40, emulation=emulation)
        for cluster in (HOMOGENEOUS, HETEROGENEOUS)
    ]
    seen: list[Progress] = []

    outcome = compare(jobs, rounds=2, root=root, progress=seen.append)

    comparison = outcome.comparison
    assert [run.label for run in outcome.runs] == ["homogeneous", "fed", "fed", "homogeneous"]
    assert [cluster.name for cluster in comparison.clusters] == ["homogeneous", "fed"]
    assert comparison.speedup is not None
    assert comparison.speedup.mean > 1
    if all((cluster.cpu_delivered_fraction or 0) > 0.9 for cluster in comparison.clusters):
        assert comparison.speedup.low > 1  # else the launches differ by what they were given
    assert comparison.saving_fraction is not None
    assert comparison.saving_fraction.mean == pytest.approx(
        1 - (5.661 / 3.825) / comparison.speedup.mean
    )
    assert comparison.evidence == "emulated"
    assert "emulated device" in comparison.verdict
    assert Comparison.from_json(comparison.to_json()) == comparison
    assert {progress.launch for progress in seen} == {1, 2, 3, 4}
    assert processes_of(root) == {}


def test_rounds_end_once_the_speed_up_is_known_as_well_as_asked(
    make_job: MakeJob, root: Path
) -> None:
    jobs = [
        make_job(TIMED_STEPS, cluster=cluster, max_steps=20, emulation=Emulation())
        for cluster in (HOMOGENEOUS, HETEROGENEOUS)
    ]

    outcome = compare(jobs, rounds=20, within=0.99, root=root)

    (pair,) = outcome.comparison.pairs
    assert 4 <= len(outcome.runs) < 40
    assert len(outcome.runs) % 2 == 0
    assert pair.speedup.looks == 19
    assert pair.speedup.high <= 1.99 * pair.speedup.mean
    assert "every look" in outcome.comparison.verdict


@pytest.mark.parametrize("within", [0.0, 1.0, 5.0])
def test_a_width_that_is_no_fraction_is_refused(
    make_job: MakeJob, root: Path, within: float
) -> None:
    job = make_job(TIMED_STEPS, cluster=HOMOGENEOUS, emulation=Emulation())

    with pytest.raises(SpecError, match=r"within=.* Give 0.05 for 5 %"):
        compare([job], rounds=2, within=within, root=root)


def test_a_failing_launch_fails_the_comparison_and_names_the_cluster(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job("raise SystemExit(3)", cluster=HETEROGENEOUS)

    with pytest.raises(
        RunFailedError, match=r"Launch 1 of 3 \(fed\) ended as Failed.*code 3"
    ) as failed:
        compare([job], root=root)

    study = only_study(root)
    assert (study.status, study.state.reason) == ("Failed", str(failed.value))
    assert study.comparison is None
    assert "It printed nothing; what is known of it: 'smtc-lab runs show " in str(failed.value)
    assert "logs" not in str(failed.value)


def test_a_launch_without_a_step_fails_the_comparison_in_a_sentence(
    make_job: MakeJob, root: Path
) -> None:
    jobs = [make_job("print('no step')", cluster=HOMOGENEOUS)]

    with pytest.raises(
        RunFailedError, match=r"Launch 1 of 3 \(homogeneous\) made no step that could be timed"
    ) as failed:
        compare(jobs, root=root)

    assert " All logs: " in str(failed.value)


def test_jobs_that_cannot_be_told_apart_are_refused_before_anything_runs(
    make_job: MakeJob, root: Path
) -> None:
    job = make_job(TIMED_STEPS)

    with pytest.raises(SpecError) as refused:
        compare([job, job], rounds=0, root=root)

    assert len(refused.value.problems) == 2
    assert "rounds=0" in refused.value.problems[0]
    assert "Two clusters are called 'homogeneous'" in refused.value.problems[1]
    assert not root.exists()


@pytest.mark.parametrize(
    ("emulated", "other", "told"),
    [
        (Emulation(), (HETEROGENEOUS, None), "homogeneous would be emulated and fed not"),
        (
            Emulation(),
            ("own@here=local", Emulation()),
            "homogeneous would be emulated and own not",
        ),
        (
            Emulation(device_step_time_s=0.03),
            ("own@here=local", Emulation(device_step_time_s=0.03)),
            "own would run at the full speed of this machine",
        ),
    ],
)
def test_set_ups_whose_seconds_are_not_alike_are_refused_before_anything_runs(
    make_job: MakeJob,
    root: Path,
    emulated: Emulation,
    other: tuple[str, Emulation | None],
    told: str,
) -> None:
    cluster, emulation = other
    jobs = [
        make_job(TIMED_STEPS, cluster=HOMOGENEOUS, emulation=emulated),
        make_job(TIMED_STEPS, cluster=cluster, emulation=emulation),
    ]

    with pytest.raises(SpecError, match=told):
        compare(jobs, root=root)

    assert not root.exists()
