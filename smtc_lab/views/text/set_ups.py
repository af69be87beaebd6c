"""What the table of set-ups is made of while launches still run, and a row of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison

if TYPE_CHECKING:
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.communication.spread import SpreadResult
    from smtc_lab.metrics.compared.comparison import Dataloader, Utilization
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.compared.environments import EnvironmentResult
    from smtc_lab.metrics.compared.pair_result import PairResult
    from smtc_lab.metrics.result import Evidence, Interval
    from smtc_lab.spec.cluster import InstanceGroup


@dataclass(frozen=True, kw_only=True)
class RowInfo:
    """One line of the table of set-ups, in words."""

    label: str
    """What is compared."""

    cells: tuple[tuple[str, ...], ...]
    """By set-up: the lines of the cell, at least one."""


@dataclass(frozen=True, kw_only=True)
class SetUpEstimate:
    """What is seen of a set-up so far, warm-up left out: a ``ClusterResult`` in the making."""

    name: str
    instance_groups: tuple[InstanceGroup, ...]
    usd_per_hour: float | None
    spread: SpreadResult

    launches: int
    """Launches that made a measured step."""

    steps: int
    warm_up_steps: tuple[int, ...]

    step_time_s: Interval | None
    """None: no step yet, as of the shares below."""

    usd_per_1000_steps: Interval | None
    data_wait_fraction: float | None
    exposed_comm_s: Interval | None
    utilization: Utilization

    bill: Bill | None
    """Means over its launches that have completed, as of a result; while none has, of the one
    that runs. None: nothing is known."""

    intervals: dict[str, Interval]
    """Of that bill; empty: no launch has completed."""

    batches: dict[str, int]
    dataloader: Dataloader | None

    evidence: Evidence

    usd_so_far: float | None
    """Cost of all its launches until now; of emulated ones, of their steps. None: not known."""

    compiler: CompilerResult | None = None
    """Of the rounds that are complete."""

    environment: EnvironmentResult | None = None
    """As of a result; before the first complete round, its name alone."""


@dataclass(frozen=True, kw_only=True)
class SetUpsSoFar:
    """A comparison whose launches still run, of all steps so far."""

    clusters: tuple[SetUpEstimate, ...]
    """The set-ups; the baseline first, where there is one."""

    pairs: tuple[PairResult, ...] = ()
    """Of those whose ratio is known."""

    is_compared: bool = False
    """Whether there is a baseline."""


SetUp = ClusterResult | SetUpEstimate
"""What a cell is made of."""

Compared = Comparison | SetUpsSoFar
"""What a table of set-ups is made of."""
