"""What a browser is told of a search, beside what it is told of any study."""

from __future__ import annotations

from dataclasses import dataclass

from smtc_lab.metrics.result import Evidence  # noqa: TC001  pydantic reads it
from smtc_lab.metrics.tuning.pareto import PricedTrial  # noqa: TC001  as above


@dataclass(frozen=True, kw_only=True)
class SearchedInfo:
    """A hyperparameter that is searched."""

    name: str
    """What the script calls it."""

    low: float
    """Least value; of one of several values 0."""

    high: float
    """Greatest value; of one of several values the last one's place."""

    is_log: bool
    """Whether its axis is logarithmic."""

    choices: tuple[str, ...] = ()
    """What it may be; empty: a number."""

    importance: float | None = None
    """Share of the order of the trials that it tells by itself, 0 to 1, estimated; None: too
    few trials."""


@dataclass(frozen=True, kw_only=True)
class TrialInfo:
    """A trial."""

    number: int
    """From 0."""

    run: str
    """Job name of its run."""

    state: str
    """As of a ``Trial``."""

    objective: float | None
    """Its objective; None: it has none that can be compared."""

    values: tuple[float | None, ...]
    """Of each hyperparameter that is searched its value, or its place among the choices."""

    points: int
    """Values of the objective so far."""

    steps: int
    """Steps that it has taken."""

    usd: float | None
    """What it has cost, in USD; None: unknown."""

    reason: str
    """Why it ended so; empty: there is nothing to say."""


@dataclass(frozen=True, kw_only=True)
class BestInfo:
    """The best objective from the end of a trial on."""

    trials: int
    """Trials that have ended by then."""

    usd: float | None
    """What they have cost together, in USD; None: unknown."""

    trial: int
    """Number of the best one."""

    objective: float
    """Its objective."""


@dataclass(frozen=True, kw_only=True)
class TrialCurve:
    """The objective of a trial while it was trained."""

    trial: int
    """Its number."""

    points: tuple[tuple[float, float], ...]
    """How many values there were by then, and the value."""


@dataclass(frozen=True, kw_only=True)
class TuningInfo:
    """What a search has found so far."""

    name: str
    """Name of the search."""

    objective: str
    """Name of the metric."""

    is_minimized: bool
    """Whether less is better."""

    strategy: str
    """How it is searched."""

    evidence: Evidence
    """Of time and money."""

    num_trials: int
    """Trials in all, if nothing ends it before."""

    begun: int
    """Trials so far."""

    ended: int
    """Those that have ended."""

    budget_usd: float | None
    """Most that it may cost, in USD; None: no limit."""

    usd: float | None
    """What all trials have cost so far, in USD; None: unknown."""

    searched: tuple[SearchedInfo, ...]
    """The hyperparameters."""

    trials: tuple[TrialInfo, ...]
    """The best trials, then those without an objective: some hundreds."""

    so_far: tuple[BestInfo, ...]
    """Where the best objective became another; the last one is where it stands now."""

    curves: tuple[TrialCurve, ...]
    """Of some trials, by number."""

    pareto: tuple[PricedTrial, ...] = ()
    """Trials on clusters; empty: nobody asked the planner."""

    left_out: tuple[str, ...] = ()
    """What is not among those, a sentence each."""
