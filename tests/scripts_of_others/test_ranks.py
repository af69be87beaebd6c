"""Unmodified scripts with several ranks print what they print under torchrun."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.job import TrainingJob

SCRIPTS = Path(__file__).parent / "scripts"
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def losses(said: str) -> list[str]:
    """Return what all ranks print of their losses, whoever came first."""
    return sorted(line for line in said.splitlines() if line.startswith("loss "))


@pytest.mark.timeout(400)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("distributed", "torch"),
        pytest.param("accelerate_loop", "accelerate", marks=pytest.mark.soak),
        pytest.param("hugging_face_trainer", "transformers", marks=pytest.mark.soak),
    ],
)
def test_a_script_prints_what_it_prints_under_torchrun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, needs: str, ranks: int
) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    monkeypatch.chdir(tmp_path)
    script = SCRIPTS / f"{name}.py"
    job = TrainingJob(
        entry_point=str(script),
        cluster=Cluster.parse("here=local:1"),
        distribution=Distribution(data=ranks),
        environment=ENVIRONMENT,
    )
    launcher = LocalLauncher(root=tmp_path / "runs")
    run = Run(launcher, launcher.start(launcher.plan(job)))
    try:
        run.wait(timeout_s=180)
    finally:
        run.stop()
    logs = sorted(run.folder.logs.glob("algo-1-rank*.log"))

    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    torchrun = subprocess.run(
        [sys.executable, *command, str(script)],
        check=False,  # some of its versions fail after the script has ended
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=180,
    )

    assert len(logs) == ranks
    ours = losses("\n".join(log.read_text(encoding="utf-8") for log in logs))
    assert ours
    assert ours == losses(torchrun.stdout)
    steps = run.records().steps
    assert len(steps) == ranks
    assert len({len(records) for records in steps.values()}) == 1
