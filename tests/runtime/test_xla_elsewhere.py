"""Whole jobs under ``auto`` whose XLA lies in an environment of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.machine.environments.named import XLA
from smtc_lab.machine.environments.probe import environment_facts
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from tests.kit.runs import processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.machine.environments.probe import EnvironmentFacts

    Start = Callable[..., Run]

pytestmark = pytest.mark.timeout(400)

SCRIPT = Path(__file__).with_name("xla_elsewhere_script.py")
LIMIT_S = 360
ALONE, FED = "a=local:1:train", "a=local:1:train,b=local:1:data"


@pytest.fixture
def start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, xla_environment: EnvironmentFacts
) -> Iterator[Start]:
    """Start the script on a trainer that knows XLA's environment; it ends with the test."""
    assert xla_environment.why_not_xla is None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    runs = []

    def start_run(slow: str, *, steps: int, groups: str = ALONE, **values: Any) -> Run:
        job = TrainingJob(
            entry_point=str(SCRIPT),
            cluster=Cluster.parse(groups),
            compiler_config=TrainingCompilerConfig(backend="auto", fused_optimizer=False),
            max_steps=steps,
            environment={
                "SLOW": slow,
                "STARTS": str(tmp_path / "starts"),
                "CXX": "/no/such/compiler",  # so inductor fails at once
                "OMP_NUM_THREADS": "1",
            },
            **values,
        )
        launcher = LocalLauncher(root=tmp_path / "runs")
        runs.append(Run(launcher, launcher.start(launcher.plan(job))))
        return runs[-1]

    yield start_run
    for run in runs:
        run.stop()


def starts(tmp_path: Path) -> list[dict[str, Any]]:
    """Return what each start of the script told on the trainer."""
    path = tmp_path / "starts"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    told = [json.loads(line) for line in text.splitlines()]
    return [line for line in told if line["host"] == "algo-1"]


def outputs(run: Run) -> Path:
    return run.folder.opt_ml("algo-1") / "output" / "data"


def seen_by(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((outputs(run) / "seen.json").read_text(encoding="utf-8"))
    return found


def eager_losses(num_steps: int) -> list[float]:
    """Return the losses of as many plain steps, without any of our parts."""
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    samples = torch.randn(240, 6, generator=torch.Generator().manual_seed(2))
    losses = []
    for number in range(num_steps):
        index = torch.arange(4 * number, 4 * number + 4) % 240
        optimizer.zero_grad()
        loss = (model(samples[index]) - samples[(index * 7) % 240, :1]).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    "is_fed",
    [pytest.param(False, id="alone", marks=pytest.mark.soak), pytest.param(True, id="fed")],
)
def test_xla_of_another_environment_is_kept_and_the_job_starts_anew_there(
    start: Start, tmp_path: Path, *, is_fed: bool
) -> None:
    num_steps = 1200
    groups, num_loader_workers = (FED, 0) if is_fed else (ALONE, 1)
    run = start(
        "new", steps=num_steps, groups=groups, num_loader_workers=num_loader_workers
    ).wait(LIMIT_S)

    assert run.status == "Completed"
    assert processes_after(run.folder.path) == {}
    records = run.records()
    (report,) = records.compiler.values()
    begun = report.probe_steps
    assert begun > 0
    assert (report.backend, report.config.backend) == ("xla", "auto")
    assert (report.device, report.fell_back_because) == ("xla:CPU", None)
    steps = records.steps["algo-1-rank0"]
    assert [record.step for record in steps] == list(range(begun + num_steps))
    assert seen_by(run)["losses"] == pytest.approx(eager_losses(num_steps), rel=1e-3)

    probes = {probe.backend: probe for probe in report.probes}
    assert probes["xla"].problem is None
    assert "CompilerError" not in str(probes["inductor"].problem)
    thrown_away_s = sum(record.step_time_s - record.data_wait_s for record in steps[:begun])
    assert report.probe_s > thrown_away_s
    told = f"(torch 2.9.1), and the {begun} steps so far are taken again"
    assert told in str(report.chosen_because)
    assert any(f"auto: {report.chosen_because}" in event.message for event in records.events)
    assert "It ran in XLA's environment: torch 2.9.1." in report.notes
    measured = measured_launch(records)
    assert measured is not None
    assert measured.steps[STEP["step"], 0] >= begun

    first, child, second = starts(tmp_path)
    assert (first["pid"], first["children"]) == (second["pid"], second["children"])
    assert child["pid"] != first["pid"]
    assert child["python"] == second["python"] == environment_facts(XLA).python
    assert [name for name in second["open"] if "sqlite" in name or "socket" in name] == []
    assert sorted(path.name for path in outputs(run).glob("begun-*")) == [
        f"begun-{first['pid']}"
    ]
    assert list(run.folder.opt_ml("algo-1").glob("auto-xla-*")) == []


def test_where_eager_is_quicker_xlas_process_is_gone_and_nothing_is_lost(
    start: Start, tmp_path: Path
) -> None:
    run = start("old", steps=10_000).wait(LIMIT_S)

    assert run.status == "Completed"
    records = run.records()
    (report,) = records.compiler.values()
    assert (report.backend, report.config.backend) == ("eager", "auto")
    probes = {probe.backend: probe for probe in report.probes}
    assert probes["xla"].steps > 0
    assert probes["xla"].problem is None
    seen = seen_by(run)
    assert seen["losses"] == eager_losses(len(seen["losses"]))
    # The script leaves its loop in the middle of its last step.
    assert len(records.steps["algo-1-rank0"]) == len(seen["losses"]) - 1
    assert [it["python"] == environment_facts(XLA).python for it in starts(tmp_path)] == [
        False,
        True,
    ]
    assert [
        command for command in seen["children"] if environment_facts(XLA).python in command
    ] == []
    assert list(run.folder.opt_ml("algo-1").glob("auto-xla-*")) == []


def test_a_run_that_is_stopped_while_xla_is_tried_leaves_no_process(
    start: Start, tmp_path: Path
) -> None:
    run = start("old", steps=10_000)
    wait_until(lambda: len(starts(tmp_path)) == 2, what="XLA's process", limit_s=LIMIT_S)
    child = starts(tmp_path)[1]["pid"]

    assert child in processes_of(run.folder.path)
    run.stop()

    assert processes_after(run.folder.path) == {}
    assert start_ticks(child) is None
