"""What was measured of a workload on one machine: the schema of a calibration, version 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError

from smtc_lab.errors import PlannerError
from smtc_lab.planner.calibration.parts import (
    CalibrationPart,
    CpuSpeedFact,
    DevicePoint,
    GradientOrder,
    LaunchSpread,
    LinkPoint,
    RunPoint,
    WorkerPoint,
)
from smtc_lab.planner.intervals import Measured  # noqa: TC001  pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION: Literal[2] = 2

_READABLE = (1, SCHEMA_VERSION)
"""Versions that are read. Version 1 has no ``gradients``, ``links`` and ``step_quantiles``."""

FOLDER = "calibrations"
"""Name of the folder below that of runs in which ``calibrate`` keeps calibrations."""

_LONGEST_SHOWN = 80


def _is_hash(text: str) -> str:
    if not text:
        raise ValueError("workload='' says nothing. Calibrate again.")
    return text


class Calibration(CalibrationPart):
    """What was measured of one workload on one machine, dated, to be kept and moved."""

    schema_version: Literal[1, 2] = SCHEMA_VERSION
    """Version of the schema that it was written with."""

    created: str
    """When, as ISO date and time in UTC."""

    workload: Annotated[str, AfterValidator(_is_hash)]
    """Hash of the entry point's text, its hyperparameters and arguments."""

    entry_point: str
    """Path of the script, as it was given."""

    hyperparameters: dict[str, Any]
    """Values for the script."""

    arguments: tuple[str, ...] = ()
    """Arguments that the script was given as they are."""

    environment: dict[str, str] = Field(default={})
    """Variables that the script was given beyond those of every job."""

    machine: dict[str, Any]
    """What the machine is: CPU model, cores, memory, GPUs, system."""

    versions: dict[str, str | None]
    """Versions of what takes part in a measurement."""

    emulated_device_s: float | None = Field(default=None, gt=0)
    """Declared seconds per step of an emulated device; None: there was none."""

    device_times: dict[str, Annotated[float, Field(gt=0)]] = Field(default={})
    """Declared seconds per step by accelerator (``NVIDIA V100``), the longest of which is
    ``emulated_device_s``; empty: none was named, and that stands for all kinds."""

    batch_size: int = Field(ge=1)
    """Samples of one step of one trainer."""

    device_points: tuple[DevicePoint, ...] = ()
    """Resident data at two batch sizes, or at one."""

    worker_points: tuple[WorkerPoint, ...] = ()
    """Data workers at 1, half and all cores, in process and through the data service."""

    bytes_per_sample: float | None = Field(default=None, ge=0)
    """Bytes of one sample on the wire; None: not measured."""

    send_cpu_s_per_byte: float | None = Field(default=None, ge=0)
    """CPU-seconds that a data instance spends on sending one byte; None: not measured."""

    receive_cpu_s_per_byte: float | None = Field(default=None, ge=0)
    """CPU-seconds that a trainer spends on receiving one byte; None: not measured."""

    serial_s_per_step: Measured | None = None
    """Seconds per step of the trainer's host work that cannot be spread: its client, the copy,
    Python; None: not measured."""

    script_num_workers: int | None = Field(default=None, ge=0)
    """``num_workers`` that the script gives its dataloader, for each trainer; None: it leaves
    them to its session, or an older calibration."""

    gradient_bytes: float | None = Field(default=None, ge=0)
    """Bytes of the gradients of one trainer, which all-reduce moves; None: not measured."""

    gradients: GradientOrder | None = None
    """Which gradients are ready when; None: not measured, and predictions assume it."""

    links: tuple[LinkPoint, ...] = ()
    """Two processes that add up gradients, at two sizes; empty: not measured."""

    startup_s: Measured | None = None
    """Seconds from the start of a launch to its first step, without compiling, with the
    interval of the next launch; None: not measured."""

    compile_s: Measured | None = None
    """Seconds that a launch spends on compiling, with the interval of the next launch; None:
    nothing compiles, or not measured."""

    end_s: Measured | None = None
    """Seconds from the last step of a launch to its end, without what the script does after its
    loop: a launch of a calibration ends before; with the interval of the next launch; None:
    not measured."""

    cpu_speed: CpuSpeedFact
    """Speed of one vCPU of the machine."""

    launch_spread: LaunchSpread | None = None
    """How far launches of one set-up lie apart; None: an older calibration, whose predictions
    have ``ASSUMED_SPREAD``."""

    run_points: tuple[RunPoint, ...] = ()
    """Whole real runs at up to three worker counts."""

    problems: tuple[str, ...] = ()
    """What could not be measured, as sentences."""

    @property
    def once_s(self) -> float:
        """Seconds that a job takes beside its steps, as far as they were measured."""
        parts = (self.startup_s, self.compile_s, self.end_s)
        return sum(part.mean for part in parts if part is not None)

    def device_settings(self, device_s: Mapping[str, float] | str | None) -> dict[str, Any]:
        """Return the device times of a plan, as fields of ``PlanSettings``.

        Where accelerators were named when a device was declared, others have no known time.

        Args:
            device_s: Times that are given beside; a text has all that are known.
        """
        if isinstance(device_s, str):
            return {"device_s": device_s}
        times = {**self.device_times, **(device_s or {})}
        return {"device_s": times, "only_device_s": bool(self.device_times)}

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self.entry_point} with batches of {self.batch_size}, "
            f"{self.created}, {len(self.problems)} problems>"
        )

    __str__ = __repr__

    @classmethod
    def from_json(cls, text: str | bytes, *, workload: str | None = None) -> Self:
        """Return the calibration that was written with ``to_json``.

        Args:
            text: The JSON text.
            workload: What it must be a calibration of, as ``workload_hash`` says it; None: of
                anything.

        Raises:
            PlannerError: The text is damaged, of another version, or of another workload.
        """
        return cls._read(text, "This calibration", workload)

    def to_json(self) -> str:
        """Return the calibration as JSON text, which ``from_json`` reads back unchanged."""
        return self.model_dump_json(indent=1)

    @classmethod
    def load(cls, path: Path | str, *, workload: str | None = None) -> Self:
        """Return the calibration of a file.

        Args:
            path: The file.
            workload: As for ``from_json``.

        Raises:
            PlannerError: The file cannot be read, or as for ``from_json``.
        """
        path = Path(path)
        try:
            text = path.read_bytes()
        except OSError as error:
            raise PlannerError(
                f"The calibration {path} cannot be read ({error.strerror}). Check the path, or "
                "calibrate again with smtc_lab.calibrate()."
            ) from error
        return cls._read(text, f"The calibration {path}", workload)

    def save(self, path: Path | str) -> Path:
        """Write the calibration to a file, whole or not at all, and return its path.

        Raises:
            PlannerError: The file cannot be written.
        """
        path = Path(path)
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_text(self.to_json(), encoding="utf-8")
            part.replace(path)
        except OSError as error:
            raise PlannerError(
                f"The calibration cannot be written to {path} ({error.strerror}). Choose "
                "another path."
            ) from error
        return path

    @classmethod
    def _read(cls, text: str | bytes, what: str, workload: str | None) -> Self:
        try:
            found = json.loads(text)
        except ValueError as error:
            raise PlannerError(
                f"{what} is damaged: it is not JSON ({error}). Calibrate again."
            ) from error
        version = found.get("schema_version") if isinstance(found, dict) else None
        if version not in _READABLE:
            raise PlannerError(
                f"{what} has schema_version={_shown(version)}, but this version of smtc-lab "
                f"reads {' and '.join(map(str, _READABLE))}. Calibrate again."
            )
        try:
            calibration = cls.model_validate_json(text)
        except ValidationError as error:
            raise PlannerError(f"{what} is damaged: {_first_problem(error)}") from None
        if workload is not None and calibration.workload != workload:
            raise PlannerError(
                f"{what} is of another workload ({calibration.entry_point} with "
                f"{_shown(calibration.hyperparameters)}): the script's text or its "
                "hyperparameters or arguments have changed. Calibrate again."
            )
        return calibration


def _first_problem(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "missing":
        return f"{where} is missing. Calibrate again."
    if detail["type"] == "value_error":
        return f"in {where} {detail['ctx']['error']}"
    reason = detail["msg"][0].lower() + detail["msg"][1:]
    return f"{where}={_shown(detail['input'])} does not fit ({reason}). Calibrate again."


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
