"""Fixtures: real runs of small scripts."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HOMOGENEOUS = "dnn_group=ml.p3.2xlarge:1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def launcher(root: Path) -> LocalLauncher:
    return LocalLauncher(root=root)


@pytest.fixture
def make_job(tmp_path: Path) -> Callable[..., TrainingJob]:
    def make(body: str, *, cluster: str = HOMOGENEOUS, **values: object) -> TrainingJob:
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(body), encoding="utf-8")
        return TrainingJob(entry_point=str(script), cluster=Cluster.parse(cluster), **values)

    return make


@pytest.fixture
def start(launcher: LocalLauncher) -> Iterator[Callable[..., Run]]:
    """Start a run; whatever is left of it at the end of the test is ended."""
    runs = []

    def start_run(job: TrainingJob, *, detach: bool = False) -> Run:
        run = Run(launcher, launcher.start(launcher.plan(job), detach=detach))
        runs.append(run)
        return run

    yield start_run
    for run in runs:
        run.stop()


@pytest.fixture(scope="module")
def start_shared(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Run]]:
    """Start a run that several tests of a file look at; at their end what is left is ended."""
    runs = []

    def start_run(body: str, *, cluster: str = HOMOGENEOUS, **values: Any) -> Run:
        folder = tmp_path_factory.mktemp("shared")
        script = folder / "train.py"
        script.write_text(textwrap.dedent(body), encoding="utf-8")
        job = TrainingJob(entry_point=str(script), cluster=Cluster.parse(cluster), **values)
        launcher = LocalLauncher(root=folder / "runs")
        run = Run(launcher, launcher.start(launcher.plan(job)))
        runs.append(run)
        return run

    yield start_run
    for run in runs:
        run.stop()
