"""Seconds between the steps of an emulation, of which part is this machine's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.records.cluster_time import dilation_of_job

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.spec.job import TrainingJob

BETWEEN_STEPS = "between_steps"
"""Kind of the caution that a script spends time between its steps."""

_MOST = 0.1
"""Share of a step in cluster time up to which that is not worth a sentence."""


def between_steps(
    job: TrainingJob,
    launches: Iterable[MeasuredColumns],
    *,
    of: str = "",
    ease: float = 1.0,
) -> Finding | None:
    """Return the caution that a script works between its steps, for as long as that can be.

    A step ends with the optimizer's, and the next one begins when a batch is asked for. What
    the script computes in between, a trainer beside an emulated device does at the full speed
    of this machine; batches of an evaluation that data workers prepare are as slow as those
    of steps. Records do not tell the two apart. Runs that may be interrupted have other gaps,
    too, and are not looked at.

    Args:
        job: What was run.
        launches: Its launches, in cluster time.
        of: Whose script it is, to follow "the script"; empty: there is only one set-up.
        ease: Factor of the threshold, of what was told already.

    Returns:
        The caution; None: it is short, or nothing was slowed down.
    """
    emulation = job.emulation
    is_declared = emulation is not None and emulation.device_step_time_s is not None
    if not is_declared or dilation_of_job(job) == 1 or job.use_spot_instances:
        return None
    launches = list(launches)
    gaps_s = np.concatenate([each.gaps_s for each in launches])
    if not len(gaps_s):
        return None
    here_s = float(gaps_s.mean())
    step_s = float(np.concatenate([each.step_time_s for each in launches]).mean())
    if not here_s > _MOST * step_s * ease:
        return None
    least_s = here_s / dilation_of_job(job)
    return caution(
        BETWEEN_STEPS,
        f"Between two steps the script{of} takes {1e3 * here_s:.3g} ms on average here, which "
        "is in no step time, rate or cost of steps. A cluster would take between "
        f"{1e3 * least_s:.3g} ms, if data workers prepare that (batches of an evaluation), and "
        f"{1e3 * here_s:.3g} ms, if the script computes it: {100 * least_s / step_s:.2g} to "
        f"{100 * here_s / step_s:.0f} % of a step of {1e3 * step_s:.3g} ms.",
        "Log, evaluate and save less often.",
    )
