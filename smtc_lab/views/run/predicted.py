"""What was predicted of a run, as a browser is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.planner.run_prediction import kept_prediction

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.store.run_folder import RunFolder


def predicted_step_time_s(folder: RunFolder) -> Interval | None:
    """Return what the planner predicted of a step, in seconds; None: nobody asked it."""
    kept = kept_prediction(folder)
    return None if kept is None else kept.prediction.step_time_s
