"""What was predicted of a run, as a browser is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.store.run_folder import RunFolder


def predicted_step_time_s(folder: RunFolder) -> Interval | None:
    """Return what the planner predicted of a step, in seconds; None: nobody asked it."""
    if not os.path.lexists(folder.prediction_file):
        return None
    # the model takes a moment, and few runs were predicted
    from smtc_lab.planner.run_prediction import kept_prediction  # noqa: PLC0415

    kept = kept_prediction(folder)
    return None if kept is None else kept.prediction.step_time_s
