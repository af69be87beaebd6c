"""What was predicted of a run, as a browser is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.planner.run_prediction import kept_prediction
from smtc_lab.views.live.run_info import PredictedInfo

if TYPE_CHECKING:
    from smtc_lab.store.run_folder import RunFolder


def predicted_step_time_s(folder: RunFolder) -> PredictedInfo | None:
    """Return what the planner predicted of a step, in seconds; None: nobody asked it."""
    kept = kept_prediction(folder)
    if kept is None:
        return None
    step = kept.prediction.step_time_s
    return PredictedInfo(mean=step.value, low=step.low, high=step.high)
