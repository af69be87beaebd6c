"""What was measured of a workload on one machine: the schema of a calibration, version 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.result import Result
from smtc_lab.planner.intervals import Measured

SCHEMA_VERSION: Literal[1] = 1

_LONGEST_SHOWN = 80


class _Part(Result):
    """A frozen part of a calibration; a field that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class WorkerPoint(_Part):
    """How fast one side of the data path prepared batches, with nothing to wait for."""

    num_data_workers: int = Field(ge=1)
    """Processes that prepared data."""

    cores: float = Field(gt=0)
    """Cores that they could use: their quota, or those that they were held to."""

    samples_per_s: Measured
    """Samples that they prepared in a second."""

    cpu_s_per_sample: Measured
    """CPU-seconds of all processes of that side for one sample, all its threads busy."""

    path: Literal["in_process", "service"]
    """``in_process``: data workers of the trainer. ``service``: data workers of a data
    instance, reached through a socket."""


class DevicePoint(_Part):
    """How long a step takes when its batch is already there."""

    batch_size: int = Field(ge=1)
    """Samples of one step of one trainer."""

    step_s: Measured
    """Seconds per step of one trainer."""

    cpu_s_per_step: Measured | None = None
    """CPU-seconds per step of the trainer's process, which its own data workers cannot have;
    None: not measured."""


class RunPoint(_Part):
    """One whole real run."""

    batch_size: int = Field(ge=1)
    """Samples of one step of one trainer."""

    num_data_workers: int = Field(ge=0)
    """Processes that prepared data, wherever they were; 0: the trainer did it itself, before
    each step."""

    trainer_cores: float = Field(gt=0)
    """Cores of the trainer and its own data workers."""

    data_cores: float = Field(ge=0)
    """Cores of all data instances; 0: there was none."""

    step_time_s: Measured
    """Seconds per step, from asking for the batch to the end of the optimizer step."""


class CpuSpeedFact(_Part):
    """How fast one vCPU of the calibrated machine is."""

    value: float = Field(gt=0)
    """1.0 is a vCPU of ml.p3.2xlarge, with all vCPUs of the machine busy."""

    kind: Literal["measured", "estimated", "user"]
    """``measured``: with the same program on both. ``estimated``: from a table of CPU
    generations. ``user``: given by the user."""

    of: str
    """The CPU, and where the figure comes from."""


def _is_hash(text: str) -> str:
    if not text:
        raise ValueError("workload='' says nothing. Calibrate again.")
    return text


class Calibration(_Part):
    """What was measured of one workload on one machine, dated, to be kept and moved."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    created: str
    """When, as ISO date and time in UTC."""

    workload: Annotated[str, AfterValidator(_is_hash)]
    """Hash of the entry point's text and its hyperparameters."""

    entry_point: str
    """Path of the script, as it was given."""

    hyperparameters: dict[str, Any]
    """Values for the script."""

    environment: dict[str, str] = Field(default={})
    """Variables that the script was given beyond those of every job."""

    machine: dict[str, Any]
    """What the machine is: CPU model, cores, memory, GPUs, system."""

    versions: dict[str, str | None]
    """Versions of what takes part in a measurement."""

    emulated_device_s: float | None = Field(default=None, gt=0)
    """Declared seconds per step of an emulated device; None: there was none."""

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

    sample_cpu_variation: float | None = Field(default=None, ge=0)
    """Standard deviation of one sample's CPU time over its mean; None: not measured."""

    gradient_bytes: float | None = Field(default=None, ge=0)
    """Bytes of the gradients of one trainer, which all-reduce moves; None: not measured."""

    startup_s: Measured | None = None
    """Seconds from the start of a launch to its first step, without compiling; None: not
    measured."""

    compile_s: Measured | None = None
    """Seconds that a launch spends on compiling; None: nothing compiles, or not measured."""

    cpu_speed: CpuSpeedFact
    """Speed of one vCPU of the machine."""

    run_points: tuple[RunPoint, ...] = ()
    """Whole real runs at up to three worker counts."""

    problems: tuple[str, ...] = ()
    """What could not be measured, as sentences."""

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
        if version != SCHEMA_VERSION:
            raise PlannerError(
                f"{what} has schema_version={_shown(version)}, but this version of smtc-lab "
                f"reads {SCHEMA_VERSION}. Calibrate again."
            )
        try:
            calibration = cls.model_validate_json(text)
        except ValidationError as error:
            raise PlannerError(f"{what} is damaged: {_first_problem(error)}") from None
        if workload is not None and calibration.workload != workload:
            raise PlannerError(
                f"{what} is of another workload ({calibration.entry_point} with "
                f"{_shown(calibration.hyperparameters)}): the script's text or its "
                "hyperparameters have changed. Calibrate again."
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
