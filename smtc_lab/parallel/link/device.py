"""When an emulated device has the gradients of its step."""

from __future__ import annotations

DeviceTime = tuple[float, float]
"""When an emulated device began its step, as ``time.perf_counter`` tells, and for how long."""

_FORWARD_SHARE = 1 / 3
"""Share of an emulated device's step that is forward: backward takes twice as long."""


def pretended_s(device: DeviceTime, share: float) -> float:
    """Return when an emulated device has a share of its gradients, as ``time.perf_counter``.

    Args:
        device: Its step.
        share: 0: its backward pass begins; 1: it has all of them.
    """
    began_s, takes_s = device
    return began_s + takes_s * (_FORWARD_SHARE + (1 - _FORWARD_SHARE) * share)
