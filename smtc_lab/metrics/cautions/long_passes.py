"""Passes that take this machine longer than the accelerator that it stands in for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.spec.emulation import MOST_DILATION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.spec.job import TrainingJob

LONG_PASSES = "long_passes"
"""Kind of the caution that passes hold steps up that a device is declared for."""

_LONGER = 1.1
"""From this multiple of the declared device time on steps are not the accelerator's."""

_OTHERS = ("data_wait_s", "exposed_comm_s", "rank_wait_s")


def long_passes(
    job: TrainingJob,
    launches: Iterable[MeasuredColumns],
    *,
    of: str = "",
    ease: float = 1.0,
) -> Finding | None:
    """Return the caution that passes, computed here, outlast the declared device.

    What a step takes beyond its wait for data and for other trainers is then not the device's.
    Stages of a pipeline have parts of the device time, and are not looked at.

    Args:
        job: What was run.
        launches: Its launches, in cluster time.
        of: Whose passes they are, to follow "the passes"; empty: there is only one set-up.
        ease: Factor of the threshold, of what was told already.

    Returns:
        The caution; None: they do not, or no device was declared.
    """
    spread, emulation = job.distribution, job.emulation
    is_cut = spread is not None and spread.pipeline > 1
    if emulation is None or emulation.device_step_time_s is None or is_cut:
        return None
    steps = np.concatenate([each.steps for each in launches], axis=1)
    others = np.nan_to_num(steps[[STEP[name] for name in _OTHERS]]).sum(axis=0)
    passes_s = float((steps[STEP["rank_time_s"]] - others).mean())
    declared_s = float(steps[STEP["device_time_s"]].mean())
    if not passes_s >= _LONGER * declared_s * ease:  # also where a step tells of no device
        return None
    needed = math.ceil(dilation_of_job(job) * passes_s / declared_s)
    slower = f"a time dilation of {needed} (time_dilation, --dilation), "
    return caution(
        LONG_PASSES,
        f"The passes{of} take {1e3 * passes_s:.3g} ms a step as this machine computes them, "
        f"longer than the {1e3 * declared_s:.3g} ms that are declared for the device, so the "
        "steps are slower than an accelerator's would be.",
        f"Take {slower if needed <= MOST_DILATION else ''}a smaller model, or a device time of "
        f"{1e3 * passes_s:.3g} ms if that is what the accelerator takes.",
    )
