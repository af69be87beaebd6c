"""A comparison that ended, launched really, once a session; each test gets its own copy.

A test that is about what becomes of a launch starts its own: ``tests.launching``.
"""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import pytest

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.study.folder import StudyFolder, studies_root, write_study_state

if TYPE_CHECKING:
    from pathlib import Path

PACED_SCRIPT = textwrap.dedent("""\
    import sys, time
    from smtc_lab.runtime.instance_runtime import instance_runtime
    timer = instance_runtime().timer
    step_time_s = float(sys.argv[sys.argv.index("--step-time") + 1])
    while not timer.is_done:
        timer.ask()
        time.sleep(step_time_s)
        timer.got(8)
        timer.end()
""")
"""Makes steps that take as long as its hyperparameter says."""

HOSTILE_NAME = "fast <img src=x onerror=alert(1)> {{7*7}}"
"""Name of the second cluster of a pair."""


def paced_pair(folder: Path, *, steps: int) -> list[TrainingJob]:
    """Return two emulated jobs, ``slow`` and one of a hostile name with a quarter of its time.

    Args:
        folder: Where their script is written.
        steps: How many each makes.
    """
    script = folder / "train.py"
    script.write_text(PACED_SCRIPT, encoding="utf-8")
    clusters = ("slow@here=ml.p3.2xlarge:1", f"{HOSTILE_NAME}@here=ml.c5.xlarge:1")
    return [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(cluster),
            hyperparameters={"step-time": step_time},
            max_steps=steps,
            emulation=Emulation(cores_per_vcpu=0.05),
        )
        for cluster, step_time in zip(clusters, (0.008, 0.002), strict=True)
    ]


class CopyComparison(Protocol):
    """Copies a comparison with its launches."""

    def __call__(self, *, root: Path | None = None) -> ComparisonRun:
        """Return a copy.

        Args:
            root: Folder of its launches; None: ``runs`` below the test's folder.
        """


@pytest.fixture(scope="session")
def launched_comparison(tmp_path_factory: pytest.TempPathFactory) -> ComparisonRun:
    """Return a comparison that completed; it is everybody's, so copy it."""
    folder = tmp_path_factory.mktemp("launched comparison")
    run = launch_comparison(paced_pair(folder, steps=30), rounds=2, root=folder / "runs")
    run.wait(60)
    return run


@pytest.fixture
def ended_comparison(launched_comparison: ComparisonRun, tmp_path: Path) -> CopyComparison:
    """Return what copies a comparison of a pair that completed: 2 rounds, 30 steps each."""

    def copied(*, root: Path | None = None) -> ComparisonRun:
        runs = root or tmp_path / "runs"
        folder = StudyFolder(studies_root(runs) / launched_comparison.name)
        shutil.copytree(launched_comparison.request.root, runs, dirs_exist_ok=True)
        shutil.copytree(launched_comparison.folder.path, folder.path)
        request = replace(launched_comparison.request, root=runs)  # where it looks for them
        folder.request_file.write_text(request.to_json(), encoding="utf-8")
        return ComparisonRun(folder)

    return copied


@pytest.fixture
def growing_comparison(ended_comparison: CopyComparison, tmp_path: Path) -> ComparisonRun:
    """Return a comparison that goes on after 2 of its 3 rounds, as far as its files tell."""
    ended = ended_comparison()
    folder = StudyFolder(tmp_path / "growing")
    folder.path.mkdir()
    request = replace(ended.request, rounds=3)
    folder.request_file.write_text(request.to_json(), encoding="utf-8")
    write_study_state(folder, replace(ended.state, state="InProgress", ended_s=None))
    return ComparisonRun(folder)
