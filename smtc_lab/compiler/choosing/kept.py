"""What a process under ``auto`` leaves to the one that goes on under the kept backend."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Self

import torch

from smtc_lab.instance.variables import KEPT_VARIABLE
from smtc_lab.metrics.records.compiler_report import CompilerReport, Probe
from smtc_lab.spec.base import Strict
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kept(Strict):
    """The choice of a process that took the job's first steps, and became this one."""

    config: TrainingCompilerConfig
    """What the job asked for."""

    steps: int
    """Steps that it took; they are taken again."""

    probes: tuple[Probe, ...]
    """What it measured."""

    probe_s: float
    """Seconds that its steps and trials took."""

    chosen_because: str
    """What it said about its choice."""

    moved_s: float
    """When it became this one, in seconds since the epoch."""

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ) -> Self | None:
        """Return what was left to this process; None: nothing.

        Raises:
            ValueError: The variable is damaged.
        """
        text = variables.get(KEPT_VARIABLE)
        return cls.model_validate_json(text) if text else None

    def settings(self) -> TrainingCompilerConfig:
        """Return the settings of this process: XLA, or eager steps where it fails."""
        return self.config.model_copy(update={"backend": "xla", "fallback": "eager"})

    def start_s(self) -> float:
        """Return the seconds since this process began."""
        return max(0.0, time.time() - self.moved_s)

    def told(self, report: CompilerReport, *, start_s: float) -> CompilerReport:
        """Return a report of this process with what the one before it found.

        Args:
            report: As the process knows it by itself.
            start_s: Seconds from the begin of this process to its step.
        """
        return report.model_copy(
            update={
                "config": self.config,
                "probes": self.probes,
                "probe_steps": self.steps,
                "probe_s": self.probe_s + start_s,
                "chosen_because": self.chosen_because,
                "notes": (
                    *report.notes,
                    f"It ran in XLA's environment: torch {torch_version()}.",
                ),
            }
        )


def torch_version() -> str:
    """Return the release of torch in this process, without what it was built for."""
    return str(torch.__version__).partition("+")[0]
