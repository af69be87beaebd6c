"""The training job: what to run, and the only input of a launcher."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import (
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from smtc_lab.display import Displayed
from smtc_lab.errors import SpecError
from smtc_lab.spec.base import PlainText, spec_error, text_problem
from smtc_lab.spec.channel import MAX_CHANNELS, Channel, channel_problems
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.environment_name import EnvironmentName
from smtc_lab.spec.hyperparameter_value import check_value
from smtc_lab.spec.metric_definitions import MAX_DEFINITIONS, check_definitions
from smtc_lab.spec.sagemaker_distribution import DistributionField
from smtc_lab.spec.spot import SpotSettings

MAX_RUNTIME_S = 28 * 24 * 3600
"""SageMaker's longest MaxRuntimeInSeconds: 28 days."""

MAX_HYPERPARAMETERS = 100
"""SageMaker's limit for one training job."""

MAX_ARGUMENTS = 1000
"""Our own limit, far below what a process may be given."""

MAX_ENVIRONMENT_VARIABLES = 100
"""SageMaker's limit for one training job."""

_JOB_NAME = r"[A-Za-z0-9](-*[A-Za-z0-9]){0,62}"
_MAX_COUNT = 10**12

_RESERVED_ENVIRONMENT = re.compile(r"(SM_|SMTC_|SAGEMAKER_|RANK$|LOCAL_RANK$|WORLD_SIZE$)")


class TrainingJob(Displayed, SpotSettings):
    """One run of one training script on one cluster. Goes to JSON and back unchanged."""

    entry_point: Annotated[PlainText, Field(json_schema_extra={"pattern": r"\.py$"})]
    """Path of the Python script that every trainer runs."""

    cluster: Cluster
    """The instances to run it on."""

    job_name: Annotated[
        str | None, Field(json_schema_extra={"pattern": f"^{_JOB_NAME}$", "maxLength": 63})
    ] = None
    """1 to 63 letters and digits with ``-`` between them; None: the launcher makes one from
    the script's name and the time."""

    hyperparameters: dict[str, JsonValue] = Field(
        default_factory=dict, json_schema_extra={"maxProperties": MAX_HYPERPARAMETERS}
    )
    """Values for the entry point, at most 100; each becomes ``--name value`` and
    ``SM_HP_<NAME>``."""

    arguments: Annotated[
        tuple[PlainText, ...],
        Field(strict=False, json_schema_extra={"maxItems": MAX_ARGUMENTS}),
    ] = ()
    """Arguments that the entry point gets as they are, behind those of the hyperparameters, at
    most 1,000: flags without a value, and all that has no name."""

    channels: Annotated[
        tuple[Channel, ...], Field(strict=False, json_schema_extra={"maxItems": MAX_CHANNELS})
    ] = ()
    """Named inputs, at most 20."""

    metric_definitions: Annotated[
        tuple[dict[str, str], ...],
        Field(strict=False, json_schema_extra={"maxItems": MAX_DEFINITIONS}),
    ] = ()
    """Metrics that are found in what the script prints, at most 40, as SageMaker has them:
    ``[{"Name": "loss", "Regex": "loss=([0-9.]+)"}]``, each with exactly one group."""

    environment: dict[str, str] = Field(
        default_factory=dict, json_schema_extra={"maxProperties": MAX_ENVIRONMENT_VARIABLES}
    )
    """Extra environment variables for the entry point, at most 100."""

    python_environment: EnvironmentName | None = None
    """Python environment whose interpreter runs the entry point, by a name that ``smtc-lab
    environment`` lists; ``today`` or None: the one that launches. On SageMaker an image is the
    environment, on Ray that of its nodes: there this must be None."""

    working_dir: Literal["own", "here"] | None = None
    """Folder in which the script works on this machine. ``own``: one of the launch's own, with
    the files of the folder that it is launched from; what is new stays in it. ``here``:
    that folder itself. None: ``own`` for a launch of a study, ``here`` for any other."""

    compiler_config: TrainingCompilerConfig | None = None
    """Compiler settings; None: the step runs eagerly."""

    distribution: DistributionField = None
    """How the model is spread over devices; also SageMaker's own dicts. ``auto``: a trainer on
    every accelerator. None: one trainer on each training instance."""

    emulation: Emulation | None = None
    """How missing hardware is stood in for; None: this machine is measured as it is."""

    seed: Annotated[int, Field(json_schema_extra={"minimum": 0, "maximum": 2**63 - 1})] = 0
    """Seed of torch in every process, and of each sample's transforms; other than 0, or where
    weights are compared bit for bit, of numpy and ``random``, too."""

    max_steps: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": _MAX_COUNT})
    ] = None
    """Optimizer steps after which a run ends with success; None: when the script ends."""

    max_runtime_s: Annotated[
        float, Field(json_schema_extra={"exclusiveMinimum": 0, "maximum": MAX_RUNTIME_S})
    ] = 24 * 3600.0
    """Seconds after which the run is stopped; at most 28 days."""

    num_loader_workers: Annotated[
        int | None, Field(json_schema_extra={"minimum": 0, "maximum": _MAX_COUNT})
    ] = None
    """Data workers on each training instance; None: one for each core of its quota, and none
    where a data group feeds a trainer that has less than a core to itself."""

    num_data_workers: Annotated[
        int | None, Field(json_schema_extra={"minimum": 1, "maximum": _MAX_COUNT})
    ] = None
    """Data workers on each data instance; None: one for each core of its quota."""

    @field_validator("job_name")
    @classmethod
    def _name_is_legal(cls, name: str | None) -> str | None:
        if name is not None and not (len(name) <= 63 and re.fullmatch(_JOB_NAME, name)):
            raise ValueError(
                f"job_name {name[:80]!r} is not 1 to 63 letters and digits with '-' between "
                "them. Rename the job."
            )
        return name

    @field_validator("entry_point")
    @classmethod
    def _entry_point_is_a_path(cls, entry_point: str) -> str:
        if not entry_point.endswith(".py"):
            raise ValueError(
                f"entry_point {entry_point[:200]!r} is not the path of a Python file. Give a "
                "path that ends in .py."
            )
        return entry_point

    @field_validator("hyperparameters")
    @classmethod
    def _hyperparameters_are_legal(cls, values: dict[str, JsonValue]) -> dict[str, JsonValue]:
        wrong = [
            name for name in values if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,255}", name)
        ]
        if wrong:
            raise ValueError(
                f"Hyperparameter name {wrong[0][:80]!r} is not a letter or '_' followed by "
                "letters, digits, '_', '.' or '-' (at most 256). Rename it."
            )
        if len(values) > MAX_HYPERPARAMETERS:
            raise ValueError(
                f"A job has {len(values)} hyperparameters, but may have {MAX_HYPERPARAMETERS}. "
                "Drop some, or pass them in a file."
            )
        for name, value in values.items():
            check_value(name, value)
        return values

    @field_validator("arguments")
    @classmethod
    def _arguments_are_legal(cls, arguments: tuple[str, ...]) -> tuple[str, ...]:
        if len(arguments) > MAX_ARGUMENTS:
            raise ValueError(
                f"A job has {len(arguments)} arguments, but may have {MAX_ARGUMENTS}. Pass "
                "them in a file."
            )
        return arguments

    @field_validator("metric_definitions")
    @classmethod
    def _definitions_are_legal(
        cls, definitions: tuple[dict[str, str], ...]
    ) -> tuple[dict[str, str], ...]:
        check_definitions(definitions)
        return definitions

    @field_validator("environment")
    @classmethod
    def _environment_is_legal(cls, values: dict[str, str]) -> dict[str, str]:
        if len(values) > MAX_ENVIRONMENT_VARIABLES:
            raise ValueError(
                f"A job has {len(values)} environment variables, but may have "
                f"{MAX_ENVIRONMENT_VARIABLES}. Drop some, or pass them in a file."
            )
        for name, value in values.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,511}", name):
                raise ValueError(
                    f"Environment variable {name[:80]!r} is not a letter or '_' followed by "
                    "letters, digits or '_'. Rename it."
                )
            if problem := text_problem(value):
                raise ValueError(
                    f"Environment variable {name!r} {problem}: {value[:80]!r}. Drop that "
                    "character."
                )
            if _RESERVED_ENVIRONMENT.match(name):
                raise ValueError(
                    f"Environment variable {name!r} is set by the launcher itself. Drop it "
                    "from the job."
                )
        return values

    @field_validator("max_steps", "num_data_workers", "num_loader_workers")
    @classmethod
    def _count_is_legal(cls, count: int | None, info: ValidationInfo) -> int | None:
        least = 0 if info.field_name == "num_loader_workers" else 1
        if count is not None and not least <= count <= _MAX_COUNT:
            raise ValueError(
                f"{info.field_name}={count} is outside {least} to {_MAX_COUNT}. Change it, or "
                "leave it out."
            )
        return count

    @field_validator("max_runtime_s")
    @classmethod
    def _runtime_is_legal(cls, seconds: float) -> float:
        if not 0 < seconds <= MAX_RUNTIME_S:
            raise ValueError(
                f"max_runtime_s={seconds} is outside 0 to {MAX_RUNTIME_S} seconds (28 days). "
                "Give the longest time that the run may take."
            )
        return seconds

    @field_validator("seed")
    @classmethod
    def _seed_is_legal(cls, seed: int) -> int:
        if not 0 <= seed < 2**63:
            raise ValueError(f"seed={seed} is outside 0 to 2**63 - 1. Choose another seed.")
        return seed

    @field_validator("channels", mode="wrap")
    @classmethod
    def _channels_fit(
        cls, channels: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> tuple[Channel, ...]:
        problems = []
        try:
            channels = handler(channels)
        except ValidationError as error:
            problems = spec_error("TrainingJob.channels", error).problems
        if isinstance(channels, Sequence) and not isinstance(channels, str | bytes):
            problems += channel_problems(channels, info.data.get("cluster"))
        if problems:
            raise SpecError(problems)
        assert isinstance(channels, tuple)  # noqa: S101  the handler returned
        return channels


def parse_hyperparameter(text: str) -> tuple[str, JsonValue]:
    """Return name and value of a hyperparameter that a command line gives.

    Args:
        text: ``NAME=VALUE``; the value is JSON, or else plain text.

    Raises:
        SpecError: The text does not have this form.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise SpecError(f"Hyperparameter {text!r} has no '='. Write NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
