"""Spot training: instances that may be taken away, and what then happens."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from smtc_lab.spec.base import PlainText, Strict

MOST_INTERRUPTIONS = 10_000
"""Interruptions that a market can be told one by one, at most."""

MOST_NOTICE_S = 120.0
"""Longest notice before an instance is taken away: EC2's, in seconds."""

MAX_WAIT_RULE = (
    "Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to "
    "MaxRuntimeInSeconds"
)
"""SageMaker's sentence on a ``max_wait`` that is missing or too short."""

_MOST_S = 1e9


class Market(Strict):
    """Takes the instances of a run away, and gives others after a while.

    It stands in for a cloud's spot market where runs are launched on this machine: processes
    are really asked to end, and killed. With nothing but a notice it takes nothing by itself,
    and waits to be asked (``run.interrupt()``).
    """

    mean_time_between_s: Annotated[
        float | None, Field(json_schema_extra={"exclusiveMinimum": 0})
    ] = None
    """Mean time for which instances are there, in seconds of the market; None: for ever."""

    variation: Annotated[float, Field(json_schema_extra={"minimum": 0.1, "maximum": 10})] = 1.0
    """Coefficient of variation of that time, 0.1 to 10, of a Weibull distribution; 1: it is
    exponential. Of public traces 1.5 to 2.6."""

    mean_wait_s: Annotated[float, Field(json_schema_extra={"minimum": 0})] = 0.0
    """Mean time until there are instances again, in seconds of the market, exponential."""

    interruptions_s: Annotated[
        tuple[float, ...],
        Field(strict=False, json_schema_extra={"maxItems": MOST_INTERRUPTIONS}),
    ] = ()
    """Moments of interruptions in seconds of the market from the run's begin on, beside those
    that are drawn. A moment without instances passes."""

    trace: PlainText | None = None
    """File with how many instances there are at each moment, in the public format:
    ``{"metadata": {"gap_seconds": 600}, "data": [2, 2, 0]}``. The run is interrupted where
    there are fewer than its own, and waits until there are as many. What comes behind its end
    is as its last moment: where that has too few, and there is no ``max_wait``, the run fails.
    None: there is none."""

    notice_s: Annotated[
        float, Field(json_schema_extra={"minimum": 0, "maximum": MOST_NOTICE_S})
    ] = 0.0
    """Time from TERM to KILL, in seconds of this machine, 0 to 120; 0: no notice."""

    time_scale: Annotated[float, Field(json_schema_extra={"exclusiveMinimum": 0})] = 1.0
    """Seconds of the market in one second of this machine: with 3,600 an hour passes in one. Of
    an emulation that this machine runs: in one second of cluster time while it takes steps."""

    @field_validator("mean_time_between_s", "time_scale")
    @classmethod
    def _is_above_0(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and not 0 < value <= _MOST_S:
            raise ValueError(
                f"Market.{info.field_name}={value} is outside 0 to {_MOST_S:g}. Give a number "
                "above 0."
            )
        return value

    @field_validator("variation", "mean_wait_s", "notice_s")
    @classmethod
    def _is_in_range(cls, value: float, info: ValidationInfo) -> float:
        least, most = {
            "variation": (0.1, 10.0),
            "mean_wait_s": (0.0, _MOST_S),
            "notice_s": (0.0, MOST_NOTICE_S),
        }[str(info.field_name)]
        if not least <= value <= most:
            raise ValueError(
                f"Market.{info.field_name}={value} is outside {least:g} to {most:g}. Change it."
            )
        return value

    @field_validator("interruptions_s")
    @classmethod
    def _are_moments(cls, moments: tuple[float, ...]) -> tuple[float, ...]:
        if len(moments) > MOST_INTERRUPTIONS:
            raise ValueError(
                f"Market.interruptions_s has {len(moments)} moments, but may have "
                f"{MOST_INTERRUPTIONS}. Give a rate or a trace."
            )
        wrong = [moment for moment in moments if not 0 <= moment <= _MOST_S]
        if wrong:
            raise ValueError(
                f"Market.interruptions_s has {wrong[0]}, which is outside 0 to {_MOST_S:g} "
                "seconds. Give moments from the run's begin on."
            )
        return tuple(sorted(moments))


class SpotSettings(Strict):
    """The part of a job that says how it is trained on instances that may be taken away."""

    use_spot_instances: bool = False
    """Whether to train on spot instances, which may be taken away at any time: the run is
    started again when there are others, and goes on from its last checkpoint."""

    max_wait: Annotated[float | None, Field(json_schema_extra={"exclusiveMinimum": 0})] = None
    """Longest time from the launch to the end, waiting for instances included, in seconds; at
    least ``max_runtime_s``, which is then the longest time with instances. Of an emulation's
    steps it counts cluster time, and ``max_runtime_s`` this machine's. None: as long as it
    takes; on SageMaker ``max_runtime_s`` and an hour."""

    checkpoint_s3_uri: PlainText | None = None
    """Where SageMaker keeps what lies in ``checkpoint_local_path``: ``s3://BUCKET/PREFIX``, of
    this job alone, which its role may read and write. None: below its output. Elsewhere the
    run's folder keeps it."""

    checkpoint_local_path: PlainText | None = None
    """Folder of checkpoints on SageMaker's instances; None: ``/opt/ml/checkpoints``. Elsewhere
    that lies below the run's own folder, whatever this says. ``SM_CHECKPOINT_DIR`` names it
    everywhere, and ``session.checkpoint`` uses it."""

    resume: Literal["automatic"] | None = None
    """``automatic``: a plain loop that saves nothing is kept, and goes on after an interruption
    where it was: models, optimizers, schedulers, scalers, random numbers and the place in the
    data are seen from outside. A script that it cannot be done for is told why, and begins
    anew. None: scripts call ``session.checkpoint``, or save and load by themselves."""

    market: Market | None = None
    """Spot market that this machine plays; None: nothing is taken away but by hand."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        compiler = getattr(self, "compiler_config", None)
        if self.resume is not None and compiler is not None and compiler.enabled:
            raise ValueError(
                f"resume={self.resume!r} does not go with a compiler_config: a compiled step "
                "is not seen from outside. Leave one of them out, or call "
                "session.checkpoint(...)."
            )
        limit_s, max_wait = getattr(self, "max_runtime_s", 0.0), self.max_wait
        if not self.use_spot_instances:
            for name in ("max_wait", "market"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} is given, but use_spot_instances is False. Set that, too, or "
                        f"leave {name} out."
                    )
        elif max_wait is not None and not max_wait >= limit_s:
            raise ValueError(
                f"{MAX_WAIT_RULE}: max_wait={max_wait:g}, max_runtime_s={limit_s:g}. Raise "
                "max_wait, or lower max_runtime_s."
            )
        return self

    @field_validator("checkpoint_s3_uri")
    @classmethod
    def _is_in_s3(cls, uri: str | None) -> str | None:
        if uri is not None and not (uri.startswith("s3://") and uri[5:].strip("/")):
            raise ValueError(
                f"checkpoint_s3_uri {uri[:200]!r} is not s3://BUCKET/PREFIX. Write it so."
            )
        return uri

    @field_validator("checkpoint_local_path")
    @classmethod
    def _is_absolute(cls, path: str | None) -> str | None:
        if path is not None and not path.startswith("/"):
            raise ValueError(
                f"checkpoint_local_path {path[:200]!r} does not begin with '/'. Give the path "
                "as the instances see it."
            )
        return path
