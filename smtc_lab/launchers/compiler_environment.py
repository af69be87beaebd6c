"""What libraries are told of a job's compiler settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.spec.compiler import TrainingCompilerConfig

_TPU_DEVICES = ("/dev/accel0", "/dev/vfio/0")


def compiler_environment(
    config: TrainingCompilerConfig | None, *, tpu_devices: Iterable[str] = _TPU_DEVICES
) -> dict[str, str]:
    """Return the variables by which libraries know whether a step is XLA's.

    Hugging Face's libraries take the XLA device wherever torch_xla can be imported, also for a
    script that asked for the CPU, so they are told when not to. torch_xla is told to use the
    CPU where there is no TPU, so that it never asks for a configuration.

    Args:
        config: The job's compiler settings; None: eager.
        tpu_devices: Device files that are there where there is a TPU.
    """
    if config is None or not config.enabled:
        return {"USE_TORCH_XLA": "0"}
    environment = {}
    if config.backend != "xla":  # auto hands the session's step to XLA, not a library's trainer
        environment["USE_TORCH_XLA"] = "0"
    if config.backend in {"xla", "auto"} and not any(map(_exists, tpu_devices)):
        environment["PJRT_DEVICE"] = "CPU"
    return environment


def _exists(path: str) -> bool:
    return Path(path).exists()
