"""What the planner says of one cluster: step time, cost, bottleneck, and how sure it is."""

from __future__ import annotations

from typing import Literal

from smtc_lab.display import PlanDisplayed
from smtc_lab.metrics.result import Result
from smtc_lab.planner.intervals import Estimate
from smtc_lab.planner.model.job import JobParts
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution

Stage = Literal["cpu", "network", "serial", "device"]
"""What a step is made of. ``cpu``: samples prepared, on trainers and data instances.
``network``: prepared batches on the wire. ``serial``: host work of a trainer that cannot be
spread. ``device``: the accelerator, all-reduce between accelerators included."""

Bottleneck = Stage
"""The stage that takes longest."""

STAGES: tuple[Stage, ...] = ("cpu", "network", "serial", "device")
"""The stages, in the order in which a sample passes them."""

Evidence = Literal["predicted", "extrapolated", "estimated"]
"""``predicted``: with the device time that the calibration measured or declared.
``extrapolated``: with a device time from elsewhere: another batch size than those measured,
another CPU that computes the step, or a figure of the user. ``estimated``: the calibration does
not tell the device time, and it may be what bounds the step. None is a measurement."""

IntervalBasis = Literal["calibrated machine", "extrapolation"]
"""Whose error an interval holds beside those of its inputs: that of the model on the calibrated
machine, or the larger one on other machines and with batches beyond those measured."""


class GradientExchange(Result):
    """What the exchange of gradients takes in a step of several ranks."""

    all_reduce_s: float
    """All buckets together, in seconds."""

    exposed_s: float
    """What a step waits for behind its backward pass, in seconds; it is part of ``device``."""


class Prediction(PlanDisplayed, Result):
    """What the model says of one set-up. Nothing in it was measured on that set-up."""

    step_time_s: Estimate
    """Mean step time of the job in seconds."""

    usd_per_hour: float | None
    """Price of all instances in USD per hour; None: one is unknown, or nothing is rented."""

    usd_per_step: Estimate | None
    """Cost of one step in USD; None: a price is unknown."""

    usd_per_1000_steps: Estimate | None
    """Cost of 1,000 steps in USD; None: a price is unknown."""

    job_s: Estimate | None
    """Whole job in seconds, start-up, compilation and end included; None: the number of steps
    or the start-up time is not known."""

    usd_per_job: Estimate | None
    """Cost of the whole job in USD; None: its time or a price is unknown."""

    parts: JobParts | None = None
    """The job in its parts; None: as ``job_s``, or an older version predicted it."""

    stages_s: dict[Stage, float | None]
    """Seconds that each stage alone would take for a step; None: unknown. Stages overlap, so
    they add up to more than the step time."""

    exchange: GradientExchange | None = None
    """Exchange of gradients; None: there is one rank, or nothing is known of gradients."""

    utilization: dict[Stage, float | None]
    """Share of the step time in which each stage works, 0 to 1; None: unknown."""

    bottleneck: Bottleneck
    """The stage that takes longest."""

    is_near_tie: bool
    """Whether the second longest stage takes at least 90 % of the longest."""

    evidence: Evidence
    """How far from the calibration this is."""

    interval_basis: IntervalBasis = "calibrated machine"
    """Which of two intervals all estimates here have; ``cautions`` say why it is the wider."""

    unknown: tuple[str, ...] = ()
    """Why a figure is None, one sentence each."""

    cautions: tuple[str, ...] = ()
    """What a reader must know before trusting the numbers, one sentence each."""


class Candidate(PlanDisplayed, Result):
    """One cluster that could be rented, and what is predicted of it."""

    cluster: Cluster
    """Its instance groups."""

    num_data_workers: int | None
    """Data workers on each data instance; None: the cluster has none."""

    distribution: Distribution | None = None
    """Its trainers; None: one."""

    prediction: Prediction
    """Step time and cost."""

    price_date: str | None
    """Oldest date of its prices, ``YYYY-MM-DD`` or ``YYYY-MM``; None: a price is unknown."""

    price_kind: str | None
    """``list``, ``historical``, ``estimated`` or ``user``: the least certain of its prices;
    None: a price is unknown."""

    is_price_old: bool
    """Whether a price is older than 90 days."""

    @property
    def is_heterogeneous(self) -> bool:
        """Whether it has a data group."""
        return self.cluster.is_heterogeneous

    @property
    def time_and_cost(self) -> tuple[float, float]:
        """Seconds and USD of the whole job, or seconds of a step and USD of 1,000."""
        said = self.prediction
        if said.job_s is not None and said.usd_per_job is not None:
            return said.job_s.mean, said.usd_per_job.mean
        usd = said.usd_per_1000_steps
        return said.step_time_s.mean, 0.0 if usd is None else usd.mean
