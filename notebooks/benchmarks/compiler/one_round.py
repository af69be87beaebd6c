"""One round of one model: each set-up once, in a fresh process, through the public API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from notebooks.benchmarks.compiler.set_ups import SET_UPS
from notebooks.benchmarks.harness.rounds import in_turns
from smtc_lab.machine.environments.named import TODAY, XLA
from smtc_lab.study.comparison.compare_compilers import compare_compilers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.records.records import RunRecords

UNSETTLED_STEPS = 3
"""Steps that compile, or fill caches, and are not steady."""

_LONG_JOB = 20_000
"""Steps of the job as ``auto`` knows it; the script ends long before."""

_MOST_STEPS = 400
"""Steps after which the script ends in any case."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one launch showed."""

    model: str
    """Name of the model."""

    set_up: str
    """Name of the set-up."""

    round: int
    """Number of the round, from 0. In round 0 the cache of inductor was empty."""

    backend: str
    """Backend that ran in the end."""

    steps: int
    """Steady steps that were measured."""

    device: str
    """Where it computed: ``cpu``, ``cuda``, ``xla:CPU``."""

    step_cpu_s: float
    """Median CPU time of a steady step, in seconds."""

    step_wall_s: float
    """Median time of a steady step, in seconds."""

    compile_cpu_s: float
    """CPU time of the first steps beyond as many steady ones, compilers' processes in it. Of
    ``auto``: all steps until it had chosen are among them, with its trials."""

    probe_steps: int
    """Steps until ``auto`` had chosen; 0: there was no choice."""

    peak_memory_bytes: int | None
    """Most memory that the trainer held; None: not known."""

    per_block: int | None
    """Layers that were compiled one by one; None: none."""

    chosen_because: str | None
    """What ``auto`` says about its choice; None: there was no choice."""

    @property
    def step_s(self) -> float:
        """Return what a step takes, for ratios.

        CPU time, which other users of a machine leave as it is; on a GPU, time.
        """
        return self.step_wall_s if self.device == "cuda" else self.step_cpu_s


def measure_round(  # noqa: PLR0913  options by name
    model: str,
    *,
    set_ups: Sequence[str],
    number: int,
    steps: int,
    size: str,
    folder: Path,
    environment: dict[str, str],
    python_environment: str | None = None,
) -> tuple[list[Row], list[str]]:
    """Return what each set-up showed, and what went wrong.

    Args:
        model: Name of the model.
        set_ups: Names of set-ups, the baseline first.
        number: Number of the round; in odd ones the order turns round.
        steps: Steady steps of each.
        size: ``small`` or ``full``.
        folder: Where the runs are kept.
        environment: Variables of the trainer's process.
        python_environment: Environment of every launch; None: today's, and XLA's for XLA.

    Raises:
        RunFailedError: The baseline could not be run, or nothing else could.
    """
    baseline, *others = set_ups
    order = [baseline, *in_turns(others, number)]
    outcome = compare_compilers(
        Path(__file__).with_name("script.py"),
        backends=[SET_UPS[name] for name in order],
        hyperparameters={
            "model": model,
            "size": size,
            "measured_steps": steps + UNSETTLED_STEPS,
            "steps": _MOST_STEPS,
        },
        steps=_LONG_JOB,
        rounds=1,
        parity=False,
        root=folder,
        environment=environment,
        python_environment=python_environment,
    )
    warnings = [f"{model}: {text}" for text in outcome.comparison.warnings if "failed" in text]
    return [_row(run, model, number, folder) for run in outcome.runs], warnings


def _set_up(run: RunRecords) -> str:
    """Return the name of a set-up, with its environment where that is not the usual one."""
    name = next(name for name, it in SET_UPS.items() if it == run.job.compiler_config)
    environment = run.job.python_environment
    is_usual = environment in {None, TODAY, XLA if name == "xla" else None}
    return name if is_usual else f"{name} in {environment}"


def _row(run: RunRecords, model: str, number: int, folder: Path) -> Row:
    (path,) = (folder / str(run.job.job_name)).rglob("step_times.json")
    times = json.loads(path.read_text(encoding="utf-8"))
    report = next(iter(run.compiler.values()))
    first = report.probe_steps - times["first_step"] + UNSETTLED_STEPS
    cpu_s, wall_s = (times[clock][first:] for clock in ("cpu_s", "wall_s"))
    step_cpu_s = median(cpu_s)
    return Row(
        model=model,
        set_up=_set_up(run),
        round=number,
        backend=report.backend,
        device=report.device,
        steps=len(cpu_s),
        step_cpu_s=step_cpu_s,
        step_wall_s=median(wall_s),
        compile_cpu_s=max(0.0, sum(times["cpu_s"][:first]) - first * step_cpu_s),
        probe_steps=report.probe_steps,
        peak_memory_bytes=report.peak_memory_bytes,
        per_block=report.per_block,
        chosen_because=report.chosen_because,
    )
