"""What smtc_lab itself costs: measured by ``notebooks/bench_overhead.ipynb``."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.instance.context import InstanceContext
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.machine.quota.duty_cycle import DutyCycle
from smtc_lab.runtime.cpu.system_sampler import SystemSampler
from smtc_lab.runtime.step_timer import StepTimer
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.writer import RecordWriter
from tests.kit.runs import processes_of, wait_until

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import Handle

_SCRIPT = """
import os, time
from pathlib import Path
Path(os.environ["SAGEMAKER_BASE_DIR"], "begun").write_text(repr(time.time()))
time.sleep(600)
"""


def step_record_cost_s(folder: Path, *, steps: int = 20_000, pause_every: int = 500) -> float:
    """Return the trainer's time for timing and keeping one step, in seconds.

    The background writer runs as it does in a job; its commits are in the figure.
    """
    context = replace(InstanceContext.from_environment({}), max_steps=None)
    path = folder / f"steps-{time.monotonic_ns()}.sqlite"
    with RecordWriter(path) as writer:
        timer = StepTimer(context, writer)
        total_s = 0.0
        for _ in range(steps // pause_every):
            began_s = time.perf_counter()
            for _ in range(pause_every):
                timer.ask()
                timer.got(32)
                timer.end()
            total_s += time.perf_counter() - began_s
            time.sleep(0.12)  # a real trainer computes here, while the writer commits
    return total_s / steps


def sampler_core_fraction(folder: Path, *, duration_s: float = 5.0) -> float:
    """Return the share of a core that the system sampler takes at its default rate."""
    path = folder / f"system-{time.monotonic_ns()}.sqlite"
    with RecordWriter(path) as writer:
        sampler = SystemSampler(DutyCycle("bench"), writer)
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        time.sleep(duration_s)
        used_s, took_s = time.process_time() - began_cpu_s, time.perf_counter() - began_s
        sampler.close()
    return used_s / took_s


def start_and_end_s(
    folder: Path, *, python_environment: str | None = None
) -> tuple[float, float]:
    """Return how long a local job of three instances takes to start and to end, in seconds.

    Start: from the call to the first statement of the last entry point. End: from the call of
    ``stop`` to the death of the last process of the run.

    Args:
        folder: Where the run is kept.
        python_environment: Environment of the job; None: today's.
    """
    script = folder / "sleeper.py"
    script.write_text(_SCRIPT, encoding="utf-8")
    cluster = Cluster.parse("dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2:script")
    launcher = LocalLauncher(root=folder / "runs")
    job = TrainingJob(
        entry_point=str(script), cluster=cluster, python_environment=python_environment
    )
    plan = launcher.plan(job)
    began_s = time.time()
    handle = launcher.start(plan)
    hosts = [instance.host for instance in plan.instances]
    wait_until(
        lambda: all(_begun(handle, host).is_file() for host in hosts),
        what="the start of three instances",
    )
    wait_until(lambda: all(_begun_at(handle, host) for host in hosts), what="their first word")
    started_s = max(_begun_at(handle, host) for host in hosts) - began_s
    ended_s = time.perf_counter()
    launcher.stop(handle)
    wait_until(lambda: not processes_of(Path(handle.run_folder)), what="the end of the run")
    return started_s, time.perf_counter() - ended_s


def idle_core_fraction() -> float:
    """Return the share of this machine that is idle right now, 0 to 1, over half a second."""
    before = os.times().elapsed, _idle_s()
    time.sleep(0.5)
    after = os.times().elapsed, _idle_s()
    return min(1.0, (after[1] - before[1]) / (after[0] - before[0]) / (os.cpu_count() or 1))


def _idle_s() -> float:
    fields = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()
    return int(fields[4]) / os.sysconf("SC_CLK_TCK")


def _begun(handle: Handle, host: str) -> Path:
    return Path(handle.run_folder) / "instances" / host / "opt" / "ml" / "begun"


def _begun_at(handle: Handle, host: str) -> float:
    text = _begun(handle, host).read_text(encoding="utf-8")
    return float(text) if text else 0.0


def compiled_step_cost_s(*, steps: int = 20_000) -> float:
    """Return what a session adds to each eager step under a compiler's settings, CPU seconds.

    The loop around the step (``step_record_cost_s``) is not in it: only the call of the step,
    the wait at its end, and what is counted for the report.
    """
    import torch  # noqa: PLC0415  the other figures do without

    from smtc_lab.compiler.compilation import Compilation  # noqa: PLC0415  as above

    config = TrainingCompilerConfig(backend="eager", keep_memory=False, fused_optimizer=False)
    compilation = Compilation(
        config, folder=None, max_steps=None, rank=0, world_size=1, say=lambda *_: None
    )
    model = torch.nn.Linear(1, 1)
    loss = torch.zeros(())
    optimizer = torch.optim.SGD(model.parameters())
    step = compilation.compile(lambda *_: loss, model, optimizer)
    began_s = time.process_time()
    for number in range(steps):
        step(loss)
        compilation.wait()
        compilation.step_ended(number, 0.01)
    return (time.process_time() - began_s) / steps
