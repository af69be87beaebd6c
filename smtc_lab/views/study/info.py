"""What a browser is told of a comparison, besides the rows of its launches.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/comparison_info.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from smtc_lab.metrics.result import Evidence, Interval  # noqa: TC001  pydantic reads it
from smtc_lab.metrics.spent import LaunchCause, StepsCause  # noqa: TC001  pydantic reads it
from smtc_lab.views.live.foretold import Foretold  # noqa: TC001  pydantic reads it
from smtc_lab.views.live.part_use import PartUse  # noqa: TC001  pydantic reads it
from smtc_lab.views.run.info import Predicted  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.findings import FindingInfo  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values
from smtc_lab.views.text.set_ups import RowInfo  # noqa: TC001  pydantic reads it


@dataclass(frozen=True, kw_only=True)
class PicturedGroup:
    """An instance group as a picture shows it. None: not known, as of this machine."""

    instance_group_name: str
    """What the set-up calls it."""

    instance_type: str
    """SageMaker's name, or ``local``."""

    instance_count: int
    """Number of instances."""

    role: Literal["train", "data"]
    """What its instances do."""

    vcpus: int | None = None
    """vCPUs of an instance."""

    memory_gib: float | None = None
    """Memory of an instance in GiB."""

    accelerator: str | None = None
    """Name of its accelerators; None also where it has none."""

    accelerator_count: int = 0
    """Accelerators of an instance."""

    network_gbps: float | None = None
    """Bandwidth of an instance in Gbit/s."""

    trainers: int | None = None
    """Trainers on an instance, each of which has one of its accelerators; None: not told."""


@dataclass(frozen=True, kw_only=True)
class SetUpInfo:
    """One set-up of a comparison: a cluster, with its compiler settings."""

    label: str
    """What tables and charts call it."""

    hosts: tuple[tuple[str, str], ...]
    """Each instance's host and the name of its group."""

    usd_per_hour: float | None
    """Price of all instances per hour in USD; None: a price is unknown."""

    evidence: Evidence
    """Whether its instances are there or emulated."""

    python_environment: str = ""
    """Name of its Python environment; empty: the one that launches."""

    predicted_step_time_s: Predicted | None = None
    """What the planner predicted of a step, in seconds; None: nobody asked it."""

    groups: tuple[PicturedGroup, ...] = ()
    """Its instance groups; empty: not told, as by an older version."""

    use: PartUse | None = None
    """How busy its parts were in the measured steps so far; None: there are none."""

    step_time_s: float | None = None
    """Mean step time so far in seconds; None: no step."""

    step_time_interval_s: Interval | None = None
    """The same with its interval."""

    foretold: Foretold | None = None
    """What the form that started it had predicted; None: nothing."""


@dataclass(frozen=True, kw_only=True)
class LaunchInfo:
    """One launch. Launch k, from 0, has the tables ``k/steps`` and ``k/system:<host>``."""

    job_name: str
    """Name of the run."""

    label: str
    """What is launched."""

    set_up: int | None
    """Place of its set-up; None: it checks parity only, and has no tables."""

    round: int | None
    """Number of its round, from 1; None: it checks parity only."""

    state: str
    """SageMaker's spelling; while it is in progress the secondary state that tells more."""

    steps: int
    """Steps so far, warm-up included."""

    max_steps: int | None
    """Steps that it will take; None: not known."""

    warm_up_steps: int
    """Steps at its begin that are left out, as far as it is known by now."""


@dataclass(frozen=True, kw_only=True)
class StepsCostPart:
    """A part of what 1,000 steps of a set-up cost. All of its parts add up to that."""

    set_up: int
    """Place of the set-up."""

    cause: StepsCause
    """What is paid for."""

    usd_per_1000_steps: float
    """In USD, above 0."""

    is_waiting: bool
    """Whether it is paid while what it is paid for waits."""


@dataclass(frozen=True, kw_only=True)
class LaunchCostPart:
    """A part of what one launch of a set-up costs, a mean over its launches."""

    set_up: int
    """Place of the set-up."""

    cause: LaunchCause
    """What is paid for."""

    usd: float
    """In USD."""

    is_waiting: bool
    """Whether it is paid while no step is made that would be made again."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a kind of study says of its own, below the answer."""

    name: str
    """What draws it; a view that does not know it shows its words."""

    sentence: str = ""
    """What it says; empty: the picture says it."""

    rows: tuple[RowInfo, ...] = ()
    """A table, where there is no room for a picture."""

    values: Any = None
    """What its picture shows: a dataclass, which the one that draws it reads; None: there is
    none."""


@dataclass(frozen=True, kw_only=True)
class ComparisonInfo:
    """Where a comparison stands, and what is seen so far."""

    name: str
    """Name of the comparison."""

    entry_point: str
    """The script that is run."""

    state: str
    """SageMaker's spelling."""

    ended: bool
    """Whether nothing more will happen."""

    reason: str
    """Why it is in that state; empty: there is nothing to say."""

    elapsed_s: float
    """Seconds since it began, or from its begin to its end; 0 where nothing is known of its
    launches."""

    launches: int
    """Launches in all, as far as it is known."""

    rounds: int
    """Launches of each set-up that were asked for; 0: its launches are in no round."""

    evidence: Evidence
    """Whether all hardware is there."""

    scale: str
    """The scale of the emulation in words; empty: nothing is emulated."""

    sentence: str
    """The verdict of the completed rounds, or why there is none yet."""

    is_verdict: bool
    """Whether ``sentence`` is the final verdict."""

    set_ups: tuple[SetUpInfo, ...]
    """What is compared, the baseline first. Set-up i above 0 has the table ``ratio:<i>``."""

    launched: tuple[LaunchInfo, ...]
    """The launches so far; none, of a comparison that has completed: they are not known."""

    rows: tuple[RowInfo, ...]
    """The table of set-ups."""

    notes: tuple[str, ...]
    """The prices with their dates, and what cannot be read."""

    findings: tuple[FindingInfo, ...] = ()
    """What a reader must know before trusting the numbers."""

    code: str
    """The lines of a notebook that do the same; empty: they cannot be written."""

    is_billed: bool | None = None
    """Whether somebody is billed for its launches; None: nobody knows, or nothing was
    launched."""

    steps_cost: tuple[StepsCostPart, ...] = ()
    """By set-up and cause, what 1,000 steps cost; no part of one whose price is unknown, or
    that made no step. Empty also: an older version wrote it, which did not tell."""

    launch_cost: tuple[LaunchCostPart, ...] = ()
    """The same of one launch; no part of one that was emulated, whose start-up and end are on a
    scale of their own."""

    sections: tuple[Section, ...] = ()
    """What its kind says of its own."""

    def to_json(self) -> dict[str, Any]:
        """Return the information as JSON values."""
        return json_values(self)
