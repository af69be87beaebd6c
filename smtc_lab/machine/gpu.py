"""NVIDIA GPUs through NVML, where there are any."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def visible_gpus() -> tuple[int, ...]:
    """Return the GPUs that a process of ours may use, as ``CUDA_VISIBLE_DEVICES`` numbers them.

    Empty where there is none, or where that variable names them by something else than numbers.
    """
    names = os.environ.get("CUDA_VISIBLE_DEVICES")
    if names is None:
        return tuple(range(GpuProbe().count))
    numbers = [name.strip() for name in names.split(",")]
    if not all(number.isdecimal() for number in numbers):
        return ()
    return tuple(int(number) for number in numbers if int(number) < GpuProbe().count)


class GpuProbe:
    """Utilization and memory of all GPUs of this machine; nothing at all without a driver."""

    def __init__(self) -> None:
        self._handles: list[Any] = []
        if not Path("/dev/nvidiactl").exists():
            return
        try:
            import pynvml  # noqa: PLC0415  only where there is a driver
        except ImportError:  # an image of somebody else's may be without it
            return
        try:
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
            self._handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        except pynvml.NVMLError:
            self._handles = []

    @property
    def count(self) -> int:
        """Number of GPUs."""
        return len(self._handles)

    def look(self) -> tuple[float | None, int | None]:
        """Return mean utilization (0-1) and used memory in bytes; None without a GPU."""
        if not self._handles:
            return None, None
        import pynvml  # noqa: PLC0415  only where there is a driver

        try:
            rates = [
                pynvml.nvmlDeviceGetUtilizationRates(handle).gpu for handle in self._handles
            ]
            memory = [pynvml.nvmlDeviceGetMemoryInfo(handle).used for handle in self._handles]
        except pynvml.NVMLError:
            return None, None
        return sum(rates) / len(rates) / 100, int(sum(memory))
