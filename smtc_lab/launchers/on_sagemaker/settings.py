"""What a launch on SageMaker needs to know beside the job: account, place, limits."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from smtc_lab.errors import SpecError
from smtc_lab.spec.base import PlainText, Strict

if TYPE_CHECKING:
    from pydantic import ValidationInfo

    from smtc_lab.launchers.launcher import LaunchPlan

_ROLE_ARN = r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]{1,512}"
_S3_URI = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]*)?"

ENVIRONMENT = {
    "role_arn": "SMTC_SAGEMAKER_ROLE_ARN",
    "image_uri": "SMTC_SAGEMAKER_IMAGE_URI",
    "s3_uri": "SMTC_SAGEMAKER_S3_URI",
}
"""Variables that give the settings of an account once for all launches."""

_RANGES: dict[str, tuple[float, float]] = {
    "max_wait_s": (1, 28 * 24 * 3600),
    "volume_gb": (1, 16_384),
    "keep_alive_s": (0, 21_600),
    "retry_attempts": (0, 30),
    "linger_s": (0, 3600),
    "poll_s": (0.05, 300),
}
"""Least and greatest values; SageMaker's own limits where it has one."""


class SageMakerSettings(Strict):
    """Where and how training jobs run on SageMaker. Holds no credentials: those are boto3's."""

    role_arn: PlainText
    """ARN of the role that the job runs as."""

    image_uri: PlainText
    """Container image that has Python, torch and what the script needs."""

    s3_uri: PlainText
    """``s3://bucket/prefix`` for the source, the checkpoints and the output of all jobs."""

    region: PlainText | None = None
    """AWS region; None: the one of boto3's own configuration."""

    max_usd: float | None = None
    """Launches whose worst case costs more USD are refused; None: no limit."""

    use_spot: bool = False
    """Older name of the job's ``use_spot_instances``: spot instances where either is set."""

    max_wait_s: float | None = None
    """Older name of the job's ``max_wait``, which goes first, in seconds."""

    input_mode: Literal["File", "FastFile"] = "File"
    """How channels come: ``File`` copies them to each instance before the script starts,
    ``FastFile`` reads them from S3 as the script does."""

    volume_gb: int = 30
    """Storage of each instance in GB."""

    keep_alive_s: int = 0
    """Time for which the instances are kept, and paid for, after the job, in seconds."""

    retry_attempts: int = 1
    """Times that SageMaker starts the job again after an internal error of its own. Such a
    start finds the checkpoint folder of the one before; the run's time limit counts both."""

    metric_definitions: bool = True
    """Whether SageMaker is told how to find metrics in the log, which then show in its console
    and in CloudWatch."""

    profiler: bool = False
    """Whether SageMaker's own profiler samples the instances every 0.5 s."""

    subnets: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Subnets of a VPC that the instances are in; empty: SageMaker's own network."""

    security_group_ids: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Security groups of the instances in that VPC. They must let the instances talk to each
    other."""

    tags: dict[str, str] = Field(default_factory=dict)
    """More tags for the job, beside our own ``smtc-lab:*``."""

    linger_s: float = 60.0
    """Longest time between the end of the trainers and that of the data instances, in seconds.
    After it the job is stopped."""

    poll_s: float = 2.0
    """Time between two looks at the job, in seconds."""

    @classmethod
    def of(cls, given: dict[str, Any]) -> Self:
        """Return the settings that are given; what is not may come from the environment.

        Raises:
            SpecError: One line for each problem: what is wrong, the value, what to do.
        """
        kept = {
            name: os.environ[variable]
            for name, variable in ENVIRONMENT.items()
            if os.environ.get(variable)
        }
        missing = [name for name in ENVIRONMENT if name not in {**kept, **given}]
        if missing:
            raise SpecError(
                [
                    f"SageMaker needs {name}, which is not given. Pass {name}=..., or set the "
                    f"environment variable {ENVIRONMENT[name]}."
                    for name in missing
                ]
            )
        return cls(**{**kept, **given})

    @property
    def bucket(self) -> str:
        """Name of the bucket."""
        return self.s3_uri.removeprefix("s3://").partition("/")[0]

    @property
    def prefix(self) -> str:
        """Part of ``s3_uri`` behind the bucket, without ``/`` at its end; may be empty."""
        return self.s3_uri.removeprefix("s3://").partition("/")[2].strip("/")

    @property
    def root_uri(self) -> str:
        """``s3_uri`` without a ``/`` at its end."""
        return "/".join(filter(None, (f"s3://{self.bucket}", self.prefix)))

    def job_uri(self, job_name: str, *parts: str) -> str:
        """Return the S3 URI of something that belongs to a job, for example its checkpoints."""
        return "/".join((self.root_uri, job_name, *parts))

    @field_validator("role_arn")
    @classmethod
    def _role_is_an_arn(cls, arn: str) -> str:
        if not re.fullmatch(_ROLE_ARN, arn):
            raise ValueError(
                f"role_arn {arn[:120]!r} is not the ARN of a role. Write for example "
                "'arn:aws:iam::111122223333:role/SageMakerRole'."
            )
        return arn

    @field_validator("s3_uri")
    @classmethod
    def _uri_is_of_s3(cls, uri: str) -> str:
        if not re.fullmatch(_S3_URI, uri):
            raise ValueError(
                f"s3_uri {uri[:120]!r} is not the URI of a place in S3. Write for example "
                "'s3://my-bucket/smtc-lab'."
            )
        return uri

    @field_validator("max_usd")
    @classmethod
    def _limit_is_positive(cls, usd: float | None) -> float | None:
        if usd is not None and usd <= 0:
            raise ValueError(
                f"max_usd={usd:g} is not above 0. Give the most that a launch may cost, or "
                "leave it out."
            )
        return usd

    @field_validator(*_RANGES)
    @classmethod
    def _number_is_in_range(cls, value: float | None, info: ValidationInfo) -> float | None:
        least, most = _RANGES[str(info.field_name)]
        if value is not None and not least <= value <= most:
            raise ValueError(
                f"{info.field_name}={value:g} is outside {least:g} to {most:g}. Change it, or "
                "leave it out."
            )
        return value

    @model_validator(mode="after")
    def _settings_fit_together(self) -> Self:
        problems = []
        if self.use_spot and self.keep_alive_s:
            problems.append(
                f"keep_alive_s={self.keep_alive_s} and use_spot=True exclude each other: spot "
                "instances are not kept. Drop one of them."
            )
        if self.max_wait_s is not None and not self.use_spot:
            problems.append(
                f"max_wait_s={self.max_wait_s:g} is for spot instances only. Set "
                "use_spot=True, or drop max_wait_s."
            )
        if bool(self.subnets) != bool(self.security_group_ids):
            given, missing = (
                ("subnets", "security_group_ids")
                if self.subnets
                else ("security_group_ids", "subnets")
            )
            problems.append(
                f"{given} is given without {missing}. A VPC needs both, or leave both out."
            )
        if problems:
            raise SpecError(problems)
        return self


def settings_of(plan: LaunchPlan) -> SageMakerSettings:
    """Return the settings that a plan was made with."""
    return SageMakerSettings.model_validate(plan.facts["sagemaker"]["settings"])
