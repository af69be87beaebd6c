"""Scripts that were not written for us: alone and on both clusters, the same losses.

A few of them stand for all in ``make test``; ``make soak`` runs the others. What needs a
package that our lock lacks (Lightning, TensorBoard, torchdata, wandb, webdataset) is skipped
there. To run that too, in an environment on top of this one, without a change to it:

    VIRTUAL_ENV=.venv .venv/bin/uv run --active --no-project --with lightning \
      --with tensorboard --with torchdata --with wandb --with webdataset \
      python -m pytest -m soak tests/scripts_of_others
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from tests.scripts_of_others.expected import EXPECTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., Run]

SCRIPTS = Path(__file__).parent / "scripts"
HOMOGENEOUS = "dnn_group=ml.p3.2xlarge:1"
HETEROGENEOUS = f"{HOMOGENEOUS},data_group=ml.c5.9xlarge:1"
LIMIT_S = 150


def every_script() -> list[Any]:
    soak = pytest.mark.soak
    return [
        pytest.param(name, marks=() if expected.is_quick else soak)
        for name, expected in EXPECTED.items()
    ]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a script on a cluster; it ends with the test."""
    monkeypatch.chdir(tmp_path)
    runs = []

    def start_run(script: Path, cluster: str, **values: Any) -> Run:
        job = TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(cluster),
            num_data_workers=1,
            **values,
        )
        launcher = LocalLauncher(root=tmp_path / "runs")
        runs.append(Run(launcher, launcher.start(launcher.plan(job))))
        return runs[-1]

    yield start_run
    for run in runs:
        run.stop()


def losses(said: str) -> list[str]:
    return re.findall(r"^loss (\S+)$", said, re.MULTILINE)


def alone(script: Path, folder: Path, environment: dict[str, str]) -> list[str]:
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return losses(ended.stdout)


def batches(run: Run) -> dict[str, int]:
    found = {"algo-2": 0, "local": 0}
    for record in run.records().loader.get("algo-1-rank0", []):
        found[record.server] = found.get(record.server, 0) + record.batches
    return found


@pytest.mark.timeout(4 * LIMIT_S)
@pytest.mark.parametrize("name", every_script())
def test_a_script_trains_the_same_model_wherever_it_runs(
    name: str, start: Start, tmp_path: Path
) -> None:
    expected, script = EXPECTED[name], SCRIPTS / f"{name}.py"
    if importlib.util.find_spec(expected.needs) is None:
        pytest.skip(f"{expected.needs} is not installed")
    told = {"environment": dict(expected.environment)}

    one = start(script, HOMOGENEOUS, **told)
    theirs = alone(script, tmp_path, dict(expected.environment))
    one.wait(LIMIT_S)
    two = start(script, HETEROGENEOUS, num_loader_workers=0, **told).wait(LIMIT_S)

    assert len(theirs) >= 2
    assert losses(one.logs("algo-1")) == theirs
    assert losses(two.logs("algo-1")) == theirs
    for run in (one, two):
        steps = run.records().steps["algo-1-rank0"]
        assert len(steps) == expected.steps
        if expected.samples is not None:
            assert sum(step.num_samples or 0 for step in steps) == expected.samples
        found = {one.name: len(one.value) for one in run.metrics().series}
        assert {name: found.get(name) for name, _ in expected.logged} == dict(expected.logged)
    assert batches(two) == {"algo-2": expected.served, "local": expected.local}


def test_every_script_is_told_what_is_right_for_it() -> None:
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(EXPECTED)
