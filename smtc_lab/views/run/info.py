"""What a browser is told of one run besides its tables. Goes over the wire as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/run_info.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from smtc_lab.metrics.bill import Bill  # noqa: TC001  pydantic reads it
from smtc_lab.metrics.interval_json import IntervalJson
from smtc_lab.metrics.result import Interval
from smtc_lab.planner.intervals import LEVEL
from smtc_lab.store.state import Secondary, word_of
from smtc_lab.views.run.interruptions import (  # noqa: TC001  as above
    InterruptionInfo,
    SpotInfo,
)
from smtc_lab.views.run.metric_info import MetricInfo  # noqa: TC001  as above
from smtc_lab.views.run.pipeline.info import PipelineInfo  # noqa: TC001  as above
from smtc_lab.views.run.rank_info import RankInfo, RankMapInfo  # noqa: TC001  as above
from smtc_lab.views.run.spread import SpreadInfo  # noqa: TC001  as above
from smtc_lab.views.text.findings import FindingInfo  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values

RUN_INFO_VERSION: Literal[1] = 1
"""Version of ``RunInfo``; another one means another front end."""

Predicted = Annotated[Interval, IntervalJson(level=LEVEL, evidence="predicted", mean="mean")]
"""A mean that the planner predicted."""


@dataclass(frozen=True, kw_only=True)
class GroupInfo:
    """One instance group."""

    name: str
    """Name of the group."""

    instance_type: str
    """Type of its instances."""

    instance_count: int
    """How many there are."""

    role: str
    """``train``, ``data``, or empty: not known."""

    hosts: tuple[str, ...]
    """Names of its instances: ``algo-1``, …"""

    cpu_quota_cores: float | None
    """CPU quota of one instance in cores of this machine; None: it has none."""


@dataclass(frozen=True, kw_only=True)
class CompilerInfo:
    """What became of the compiler that was asked for."""

    backend: str
    """What was asked for, and once it is known what ran: ``eager``, ``inductor``, ``xla`` …"""

    words: tuple[str, ...]
    """What the first trainer's report says in sentences; empty: there is none yet."""


@dataclass(frozen=True, kw_only=True)
class SummaryInfo:
    """The steps so far in a few numbers, warm-up left out."""

    steps: int
    """Measured steps of the job."""

    warm_up_steps: int
    """Steps that were left out at its begin."""

    step_time_s: Interval
    """Step time in seconds."""

    data_wait_fraction: float | None
    """Share of the step time in which trainers waited for a batch."""

    device_utilization: float | None
    """Share of the step time in which the device computed; None: not known."""

    cpu: dict[str, float | None]
    """CPU time used over CPU time at hand of each group, 0 to 1; None: not known."""

    usd_per_1000_steps: Interval | None
    """Cost of 1,000 steps in USD; None: a price is unknown."""

    samples_per_step: float | None = None
    """Samples of all trainers in a step, a mean; None: not known, or an older version told
    it."""

    ranks: tuple[RankInfo, ...] = ()
    """Each of several trainers, by rank; empty: there is one, or an older version told it."""


@dataclass(frozen=True, kw_only=True)
class EventInfo:
    """Something that happened once."""

    time_s: float
    """Seconds since the begin of the run."""

    kind: str
    """``state``, ``exit``, ``ready``, ``data``, ``compiler``, ``warning`` or ``failure``."""

    host: str
    """``algo-1``, …, or empty for the run as a whole."""

    message: str
    """One sentence."""


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """Everything about one run that is not a row of a table. Texts are data of users."""

    version: Literal[1] = RUN_INFO_VERSION
    """Version of this description."""

    job_name: str
    """Name of the job; ``lab.Run.open`` takes it."""

    cluster: str
    """What tables and charts call its cluster."""

    launcher: str
    """Name of its engine: ``local``, …; empty: not known."""

    runs_here: bool | None = None
    """Whether its instances are processes of the machine that launched it, and share what that
    has; None: its engine is not known."""

    is_billed: bool | None = None
    """Whether somebody is billed for it; False: its prices are what it would cost; None: not
    known."""

    entry_point: str
    """The script."""

    python_environment: str = ""
    """Name of the Python environment that ran it; empty: the one that launched."""

    state: str
    """SageMaker's spelling: ``Pending``, ``InProgress``, ``Stopping``, ``Completed``, …"""

    secondary: Secondary = ""
    """SageMaker's secondary state: ``Starting``, ``Interrupted``, …; empty: nothing to add, or
    an older version told it."""

    attempts: int = 0
    """Starts of its instances so far; 0: it has not begun, or an older version told it."""

    can_interrupt: bool = False
    """Whether its instances can be taken away from here, as a spot market does."""

    reason: str
    """Why it is in that state, or what interrupted it; empty: nothing is to be said."""

    ended: bool
    """Whether it has ended."""

    elapsed_s: float | None
    """Seconds from the start of the instances to now, or to the end of the last one; None: not
    started."""

    billed_s: float | None = None
    """How much of that it had instances, in seconds; None: not started, or an older version
    told it."""

    max_steps: int | None
    """Steps that it will take; None: until the script ends."""

    steps: int | None
    """Steps that all ranks have recorded; None: they were not counted yet."""

    evidence: Literal["measured", "emulated"]
    """What its step times are: of the hardware that is named, or emulated, in cluster time."""

    emulation: str
    """How it is emulated, and what its seconds are, in words; empty: it is not emulated."""

    device_step_time_s: float | None
    """Declared time of the emulated device for a step, in seconds; None: no such device."""

    groups: tuple[GroupInfo, ...]
    """The instance groups."""

    spread: SpreadInfo | None = None
    """How it is spread over trainers; None: there is one and no network is declared, or an
    older version told it."""

    usd_per_hour: float | None
    """Price of all instances per hour in USD; None: a price is unknown."""

    price_notes: tuple[str, ...]
    """Each type's price with its kind and date."""

    usd_so_far: float | None
    """Price times elapsed time, start-up and end included; of an emulated run, of its steps
    alone, whose scale the others are not on. None: a price is unknown, or not started."""

    bill: Bill | None = None
    """Where the billed time went, as far as it is known; None: an older version told it."""

    interruptions: tuple[InterruptionInfo, ...] = ()
    """The latest interruptions, in order."""

    spot: SpotInfo | None = None
    """What it saves on spot instances; None: it uses none, has not begun, or an older version
    told it."""

    compiler: CompilerInfo | None
    """The compiler; None: it was not asked for."""

    predicted_step_time_s: Predicted | None = None
    """What the planner predicted of a step, in seconds; None: nobody asked it."""

    summary: SummaryInfo | None
    """The steps so far in a few numbers; None: no step was measured."""

    rank_map: RankMapInfo | None = None
    """Several trainers over the steps; None: there is one, no step was measured, or an older
    version told it."""

    pipeline: PipelineInfo | None = None
    """The stages of its model, and what they did; None: it is not cut, or not yet, or an older
    version told it."""

    metrics: tuple[MetricInfo, ...] = ()
    """What its script logs, in the order in which it was seen; empty: nothing, or an older
    version told it."""

    metrics_left_out: int = 0
    """Metrics that are not among these, as there are too many."""

    events: tuple[EventInfo, ...]
    """The last events, oldest first."""

    findings: tuple[FindingInfo, ...]
    """What could be better, by what is known now."""

    problem: str
    """Why the run's folder cannot be read further; empty: it can."""

    @property
    def word(self) -> str:
        """Its state, or the secondary one that tells people more of a run in progress."""
        return word_of(self.state, self.secondary)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)


class LogInfo(TypedDict):
    """The last lines that the instances of a run printed."""

    lines: list[tuple[str, str]]
    """Host, or trainer of one, and text of each line, in the order in which they were read."""

    unfinished: list[tuple[str, str]]
    """Lines that have no end yet: a progress bar as it is now."""

    leftOut: int
    """Lines that were read and are not among them."""

    silent: list[str]
    """Hosts, or trainers of one, that have printed nothing so far."""
