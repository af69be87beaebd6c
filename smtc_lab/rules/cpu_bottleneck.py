"""Devices that starve because CPUs cannot prepare data as fast as they take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import CatalogError
from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.utilization import device_utilization
from smtc_lab.rules.call_text import calibrate_text
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.rules.observation import Observation

BUSY_CPU = 0.85
"""From this share of their quota, or of all cores, on, the CPUs have no more to give."""

IDLE_DEVICE = 0.8
"""Up to this share of the step time the device has time to spare."""

REAL_WAIT = 0.1
"""From this share of the step time on, waiting for data is worth a sentence."""

_LEAST_S = 5.0
"""CPU time is sampled twice a second, so less than this says little."""

_KIND = "cpu_bottleneck"


class CpuBottleneckRule(Rule):
    """Finds that CPUs are busy, devices are not, and data are really waited for.

    A trainer may wait for its next batch while its device still works on queued kernels. That
    wait costs nothing, so only what the device idles counts. Where the device's time is not
    known, a wait counts when each step ended with the device synchronized.

    While the run grows it is told from 30 measured steps on that last 5 s or longer.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield one finding, or none."""
        if not seen.is_enough_for(_KIND, for_s=_LEAST_S):
            return
        measured, wait, ease = seen.measured, seen.data_wait_fraction, seen.ease(_KIND)
        cpu = _preparing_cpu(measured)
        if cpu is None or wait is None or cpu < BUSY_CPU * ease:
            return
        device = device_utilization(measured.steps)
        if device is None and not measured.steps[STEP["synchronized"]].all():
            return
        real = wait if device is None else min(wait, 1 - device)
        if real < REAL_WAIT * ease or (device is not None and device > IDLE_DEVICE / ease):
            return
        steps = measured.steps
        lost_s = steps[STEP["data_wait_s"]]
        if device is not None and device > 1 - wait:
            lost_s = steps[STEP["rank_time_s"]] - steps[STEP["device_time_s"]]
        yield _finding(seen, cpu, device=device, wait=wait, cost=seen.cost_in_steps(lost_s))


def _finding(
    seen: Observation, cpu: float, *, device: float | None, wait: float, cost: Cost
) -> Finding:
    idle = (
        f"the trainer waits for data in {100 * wait:.0f} % of each step"
        if device is None
        else f"the device works in {100 * device:.0f} % of each step"
    )
    more = (
        "More or larger instances in the data group"
        if seen.job.cluster.is_heterogeneous
        else "More data workers, a larger size or a data group"
    )
    return Finding(
        kind=_KIND,
        sentence=(
            f"CPU-bound: the CPUs that prepare data are {100 * cpu:.0f} % busy, while {idle}."
        ),
        fix=f"{more}; a plan tells what each of them brings and costs.",
        action=f"print(smtc_lab.plan({calibrate_text(seen.job)}).best.explain())",
        cost=cost,
    )


def _preparing_cpu(measured: MeasuredColumns) -> float | None:
    """Return the CPU time over CPU time at hand of the busiest group that prepares data.

    Those are the data groups, or else the trainers. None: not known.
    """
    try:
        role_of = roles(measured.cluster, Catalog.load())
    except CatalogError:  # a type of another catalog: who prepares is not known
        return None
    preparing = [name for name, role in role_of.items() if role == "data"] or list(role_of)
    cpu = cpu_of_groups([measured])
    known = [used for name in preparing if (used := cpu[name]) is not None]
    return max(known, default=None)
