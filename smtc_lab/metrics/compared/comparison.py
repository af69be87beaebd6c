"""The result of a comparison: the schema of ``comparison.json``, version 1."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, JsonValue, computed_field, model_validator

from smtc_lab.display import BundleDisplayed
from smtc_lab.errors import StoreError
from smtc_lab.machine.stored_text import check_schema, misfits, parsed_json
from smtc_lab.metrics.bill import Bill
from smtc_lab.metrics.communication.spread import SpreadResult
from smtc_lab.metrics.compared.ablation import FactorEffect
from smtc_lab.metrics.compared.compiler_result import CompilerResult
from smtc_lab.metrics.compared.environments import EnvironmentResult, PackageDifference
from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.finding import Finding
from smtc_lab.metrics.result import Evidence, Interval, Result
from smtc_lab.neutral_text import neutral_json
from smtc_lab.spec.cluster import Role, Runs

SCHEMA_VERSION: Literal[1] = 1

Dataloader = Literal["torch", "smtc_lab"]
"""Whose dataloader: torch's own, or ours, which alone takes batches from a data group."""


class GroupResult(Result):
    """One instance group of a compared cluster."""

    instance_group_name: str
    """Name of the group."""

    instance_type: str
    """Type of its instances."""

    instance_count: int
    """Number of its instances."""

    role: Role
    """What its instances did."""

    runs: Runs | None = None
    """``script``: they ran the script, with a data server of its own."""

    vcpus: int | None
    """vCPUs of one instance; None: not in the catalog."""

    usd_per_hour: float | None
    """Price of one instance in USD per hour; None: unknown."""

    price_kind: str | None
    """``list``, ``historical``, ``estimated`` or ``user``; None: unknown."""

    price_date: str | None
    """Date of the price, ``YYYY-MM-DD``; None: unknown."""

    cpu_quota_cores: float | None
    """Cores of this machine that stood for one instance; None: no quota."""


class Utilization(Result):
    """How busy the parts of a cluster were while steps were measured, as fractions (0-1)."""

    device: float | None
    """Share of the time in which the accelerators computed; None: not known."""

    cpu: dict[str, float | None]
    """By group: CPU time used over CPU time at hand (the quota, or all cores)."""


class ClusterResult(Result):
    """What was seen of one cluster, over all its launches."""

    name: str
    """What tables and charts call it."""

    instance_groups: tuple[GroupResult, ...]
    """Its groups."""

    usd_per_hour: float | None
    """Price of the whole cluster in USD per hour; None: a price is unknown."""

    launches: int
    """Runs of this cluster that were measured."""

    steps: int
    """Measured steps of the job in all launches, warm-up left out."""

    warm_up_steps: tuple[int, ...]
    """Steps left out at the begin of each launch."""

    step_time_s: Interval
    """Mean step time of the job in seconds: in each step, the longest of all ranks."""

    usd_per_1000_steps: Interval | None
    """Cost of 1,000 steps in USD; None: a price is unknown."""

    usd_per_step: Interval | None
    """Cost of one step in USD; None: a price is unknown."""

    usd_per_job: float | None
    """Mean cost of one launch in USD, from its start to the end of its last instance, start-up
    and end included; None: a price is unknown, or it was emulated: ``bill`` has what is known
    of the parts."""

    startup_s: float
    """Mean time from the start of a launch to the begin of its first step, in seconds."""

    samples_per_s: Interval | None
    """Samples per second of the whole job; None: batch size unknown."""

    data_wait_fraction: float
    """Share of the step time in which trainers were blocked on the next batch."""

    utilization: Utilization
    """Device and CPU utilization."""

    cpu_delivered_fraction: float | None
    """CPU time delivered over CPU time asked (at most the quota), the least of its groups;
    None: no quota."""

    cpu_quota_mechanism: str
    """``cgroup-v2``, ``cgroup-v1``, ``duty-cycle`` or ``none``; in earlier versions
    also ``affinity``."""

    runs: tuple[str, ...]
    """Job names of the launches."""

    intervals: dict[str, Interval] = Field(default_factory=dict)
    """Over the launches, of the plain numbers above by their names: ``usd_per_job``,
    ``startup_s``, ``data_wait_fraction``, ``cpu_delivered_fraction``, ``utilization.device``,
    ``utilization.cpu.<group>``; and of the fields of ``bill``, ``bill.end_s``. One that is
    missing is not known."""

    compiler: CompilerResult | None = None
    """What the compiler did; None: no set-up of the comparison asked for one."""

    environment: EnvironmentResult | None = None
    """Its Python environment; None: all have the same, or it is not known."""

    spread: SpreadResult | None = None
    """How it is spread over trainers; None: an older version wrote it, which did not tell."""

    bill: Bill | None = None
    """Where the billed time of a launch went, means over its launches; None: an older version
    wrote it, which did not tell."""

    cpu_delivered: Interval | None = None
    """``cpu_delivered_fraction`` with its interval; None: no quota, or looked at for too short
    a time to tell."""

    cpu_delivered_over_s: float | None = None
    """How long that quota was looked at in all launches, in seconds; None: no quota, or not
    known."""

    batches: dict[str, int] = Field(default_factory=dict)
    """Batches that the instances of each group prepared for the trainers, by group, over all
    launches, warm-up included; a trainer's own data workers count for its group. Empty: not
    known."""

    dataloader: Dataloader | None = None
    """Whose dataloader most of these batches came through; None: not known."""

    exposed_comm_s: Interval | None = None
    """Communication of a step that nothing was computed beside, in seconds, mean over ranks;
    None: no launch recorded it, as with one trainer."""

    hyperparameters: dict[str, JsonValue] = Field(default_factory=dict)
    """Values that its script was given."""

    arguments: tuple[str, ...] = ()
    """Arguments that its script was given as they are."""


class Comparison(BundleDisplayed, Result):
    """Two or more clusters, measured in interleaved launches."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    created: str
    """When the comparison was made, ISO 8601 with time zone."""

    entry_point: str
    """The script that was run."""

    evidence: Evidence
    """Whether the hardware was there or emulated."""

    emulation: dict[str, float | None] | None
    """``cores_per_vcpu`` and ``device_step_time_s``, with ``most_device_step_time_s`` where
    devices of several times were declared; and where known ``time_dilation`` (seconds
    of this machine that one second of the clusters took: all times here are divided by it; an
    older version did not), ``cpu_speed`` (of one vCPU of this machine, 1.0 for ml.p3.2xlarge),
    ``cpu_rate`` and ``cpu_benchmark_version`` (what was measured for it, and how); None: no
    emulation."""

    declared_link: str | None = None
    """Network that was declared between trainers, as ``EmulatedLink.parse`` reads it; None:
    none was."""

    clusters: tuple[ClusterResult, ...]
    """The clusters, the baseline first."""

    pairs: tuple[PairResult, ...]
    """Each other cluster against the baseline."""

    speedup: Interval | None
    """``speedup`` of the first pair."""

    saving_fraction: Interval | None
    """``saving_fraction`` of the first pair."""

    verdict: str
    """The result in one sentence, of all pairs."""

    factors: tuple[FactorEffect, ...] = ()
    """What each setting of the compiler brings by itself, of every two set-ups that differ in
    that setting alone."""

    package_differences: tuple[PackageDifference, ...] = ()
    """Packages whose versions differ between the Python environments of the clusters."""

    findings: tuple[Finding, ...] = ()
    """What a reader must know before trusting the numbers, the gravest first."""

    machine: dict[str, object]
    """The machine that it was measured on: CPU, cores, memory, versions; ``load_at_start``:
    processes that wanted a core in the minute before."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def warnings(self) -> tuple[str, ...]:
        """``findings`` as sentences."""
        return tuple(finding.text for finding in self.findings)

    @model_validator(mode="before")
    @classmethod
    def _with_findings(cls, given: Any) -> Any:  # noqa: ANN401  pydantic gives what it has
        """Take what an earlier version wrote, which had sentences alone."""
        if not isinstance(given, dict) or "findings" in given:
            return given
        told = given.get("warnings", [])
        if isinstance(told, list | tuple):  # else it is no comparison, as is said below
            told = [{"kind": "caution", "sentence": each} for each in told]
        return {**given, "findings": told}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the comparison as JSON text."""
        return self.model_dump_json(indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the comparison that was written with ``to_json``.

        What would turn a text round, or steer a terminal, is U+FFFD in it.

        Raises:
            StoreError: The text is damaged, or of a later schema version; says so without its
                content, which may be of another file.
        """
        try:
            values = neutral_json(parsed_json(text))
            check_schema(values, "This comparison", newest=SCHEMA_VERSION)
            return cls.model_validate(values)
        except ValueError as error:
            raise StoreError(
                f"This is not a comparison of schema version {SCHEMA_VERSION}: "
                f"{misfits(error)}. Make it again with 'smtc-lab compare', or update smtc_lab."
            ) from error
