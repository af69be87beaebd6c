"""Devices that starve because CPUs cannot prepare data as fast as they take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.rules.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.rules.observation import Observation

BUSY_CPU = 0.85
"""From this share of their quota, or of all cores, on, the CPUs have no more to give."""

IDLE_DEVICE = 0.8
"""Up to this share of the step time the device has time to spare."""

REAL_WAIT = 0.1
"""From this share of the step time on, waiting for data is worth a sentence."""


def cpu_bottleneck_findings(seen: Observation) -> Iterable[Finding]:
    """Yield a finding where CPUs are busy, devices are not, and data are really waited for.

    A trainer may wait for its next batch while its device still works on queued kernels. That
    wait costs nothing, so only what the device idles counts. Where the device's time is not
    known, a wait counts when each step ended with the device synchronized.
    """
    cpu, device, wait = seen.cpu_utilization, seen.device_utilization, seen.data_wait_fraction
    if cpu is None or wait is None or cpu < BUSY_CPU:
        return
    if device is None and not seen.is_synchronized:
        return
    real = wait if device is None else min(wait, 1 - device)
    if real < REAL_WAIT or (device is not None and device > IDLE_DEVICE):
        return
    idle = (
        f"the trainer waits for data in {100 * real:.0f} % of each step"
        if device is None
        else f"the device works in {100 * device:.0f} % of each step"
    )
    yield Finding(
        kind="cpu_bottleneck",
        severity="warning",
        sentence=(
            f"CPU-bound: the CPUs that prepare data are {100 * cpu:.0f} % busy, while {idle}."
        ),
        fix=(
            "More data workers, a larger size or a data group: "
            "calibration = smtc_lab.calibrate(script), then smtc_lab.plan(calibration).best"
            ".explain() tells what each of them brings and costs."
        ),
        cost_fraction=real,
    )
