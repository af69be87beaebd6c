"""What a run leaves behind, record by record. The store keeps these as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from smtc_lab.metrics.records.attempts import Attempt
    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.metrics.records.pipeline_records import PipelineRecords
    from smtc_lab.metrics.records.recorded_environment import RecordedEnvironment
    from smtc_lab.spec.job import TrainingJob

OWN_WORKERS = "local"
"""Server of a ``LoaderRecord``: the trainer itself, or its own data workers."""

TORCHS_OWN = "torch"
"""Server of a ``LoaderRecord``: the trainer too, through torch's own dataloader."""

STEP_BOUNDARY = "steps"
"""Kind of the event that says what ends a step where it is no optimizer."""

ALL_REDUCE = "all-reduce"
FORWARD_GATHER = "all-gather forward"
BACKWARD_GATHER = "all-gather backward"
REDUCE_SCATTER = "reduce-scatter"
"""Collectives of a ``BucketRecord``."""

NOTHING_TO_SERVE = "nothing to serve"
"""Kind of the event of a trainer whose script asked its data instances for no batch."""

LOADER_KEPT = "loader kept"
"""Kind of the event of a trainer that prepares the batches of a loader itself, though there are
data instances."""

FILES_CHANGED = "files changed"
"""Kind of the event of a launch with a working folder of its own beside which files of the
user's were changed."""

FOLDER_LINKED = "folder linked"
"""Kind of the event that such a folder is not all that it seems."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """One optimizer step on one rank. Of a field, how ranks' values are joined: ``Across``.

    Times come from ``time.perf_counter`` on the host. They include queued device work only
    when ``synchronized`` is true.
    """

    step: Annotated[int, "first"]
    """Number of the step in its run, from 0."""

    end_time_s: Annotated[float, "max"]
    """End of the step in seconds since the epoch, for placing it beside other records."""

    step_time_s: Annotated[float, "max"]
    """From asking for the batch to the end of the optimizer step, in seconds."""

    data_wait_s: Annotated[float, "mean"]
    """Share of ``step_time_s`` spent blocked on the next batch, in seconds."""

    device_time_s: Annotated[float | None, "mean"]
    """Share of ``step_time_s`` in which the device computed, in seconds. An emulated device
    computes for its declared time. None: not known."""

    num_samples: Annotated[int | None, "sum"]
    """Samples in the step's batches on this rank; None: not known."""

    synchronized: Annotated[bool, "min"]
    """Whether the device was synchronized before the clock was read."""

    exposed_comm_s: Annotated[float | None, "mean"] = None
    """Share of ``step_time_s`` in which gradients were exchanged, and nothing was computed, in
    seconds. None, as in what follows: not known, or nothing was exchanged."""

    hidden_comm_s: Annotated[float | None, "mean"] = None
    """Time of exchanging gradients beside which others were computed, in seconds."""

    rank_wait_s: Annotated[float | None, "mean"] = None
    """Share of ``step_time_s`` spent waiting for a slower rank's gradients, in seconds."""

    backward_s: Annotated[float | None, "mean"] = None
    """Time of computing gradients, until the last ones were ready, in seconds."""

    comm_bytes: Annotated[int | None, "first"] = None
    """Bytes of gradients that were averaged, of the whole model also where it is sharded."""

    num_buckets: Annotated[int | None, "first"] = None
    """Collectives: buckets that were averaged; of a sharded model also each gather of
    parameters."""

    num_syncs: Annotated[int | None, "first"] = None
    """Backward passes of one model whose gradients were averaged; more than 1: an accumulation
    that averages each time."""

    local_grad_norm2: Annotated[float | None, "mean"] = None
    """Squared norm of this rank's own gradients, before they were averaged."""

    mean_grad_norm2: Annotated[float | None, "first"] = None
    """Squared norm of the averaged gradients. None also where ranks have shards of them."""

    gathered_bytes: Annotated[int | None, "first"] = None
    """Bytes of parameters that were gathered, each time they were; None: the model is not
    sharded, or not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketRecord:
    """One collective of a rank in a step: a bucket of gradients, or what a shard lacks."""

    step: int
    """Number of the step in its run, from 0."""

    bucket: int
    """Number of the bucket in the step, from 0, in the order of exchange."""

    num_bytes: int
    """Bytes of its gradients or parameters, of all its ranks together where it is sharded."""

    ready_s: float
    """When it was ready on this rank, in seconds since the backward pass began; below 0: in the
    forward pass before."""

    rank_wait_s: float
    """From then until it was ready on every rank, in seconds."""

    exposed_s: float
    """Time of its exchange in which this rank computed nothing, in seconds."""

    hidden_s: float
    """Time of its exchange beside which gradients were computed, in seconds."""

    collective: str = ALL_REDUCE
    """What was done: averaged (``ALL_REDUCE``), gathered in the forward pass
    (``FORWARD_GATHER``) or again in the backward pass (``BACKWARD_GATHER``), or averaged and
    scattered to shards (``REDUCE_SCATTER``)."""

    ranks: int | None = None
    """Ranks that took part; None: all of the job."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemSample:
    """What one instance used between two looks, at about 2 Hz."""

    time_s: float
    """End of the interval in seconds since the epoch."""

    interval_s: float
    """Length of the interval in seconds."""

    cpu_used_s: float
    """CPU time that the instance's processes used in the interval, in core-seconds."""

    cpu_asked_s: float
    """CPU time that they could have used, in core-seconds: what they used and what they stood
    in line for, at most the quota. ``cpu_used_s / cpu_asked_s`` near 1 means that the quota
    was really delivered."""

    cpu_quota_cores: float | None
    """The instance's CPU quota in cores; None: no quota, or not applied: before the first step
    begins, and when no further one comes."""

    memory_bytes: int
    """Resident memory of the instance's processes; shared pages count in each."""

    network_received_bytes: int | None
    """Bytes that the instance's processes have received since its begin, over TCP, from outside
    of it. None: the machine does not tell."""

    network_sent_bytes: int | None
    """Bytes that they have sent, as ``network_received_bytes``."""

    gpu_utilization_fraction: float | None
    """NVML: share of time with at least one kernel running, mean over GPUs. None: no GPU."""

    gpu_memory_bytes: int | None
    """NVML: memory in use, all GPUs. None: no GPU."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoaderRecord:
    """What a dataloader's client saw of one data server since the last such record."""

    time_s: float
    """End of the interval in seconds since the epoch."""

    server: str
    """Host of the data server, ``local`` for the trainer's own data workers, or ``torch`` for
    torch's own dataloader there, of which only the batches and the wait are known."""

    batches: int
    """Batches delivered to the trainer in the interval."""

    received_bytes: int
    """Payload bytes received in the interval."""

    get_wait_s: float
    """Time in which the trainer was blocked for a batch that this server then delivered, in
    seconds. Near 0: the data is ahead. Near the interval: the trainer starves."""

    worker_busy_s: float
    """Time that data workers of this server spent on these batches, in seconds."""

    requests_sent_again: int
    """Requests that went to another server, because this one went away or was much slower than
    usual."""

    put_wait_s: float = 0.0
    """Time in which finished batches of this server waited to be taken by the trainer, in
    seconds, summed over its data workers. Near 0: the trainer, or the network, keeps up."""

    queue_occupancy: float = 0.0
    """Share of these batches that were there before the trainer asked, 0 to 1. 1: the data is
    ahead. 0: the trainer starves."""

    credits_per_worker: int = 0
    """Requests that one data worker might hold at the end of the interval, at most. It bounds
    the memory on both sides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRecord:
    """Something that happened once: a state, a signal, a lost worker, a message for people."""

    time_s: float
    """Seconds since the epoch."""

    kind: str
    """``state``, ``exit``, ``ready``, ``data``, ``compiler``, ``steps``, ``alone``,
    ``same_samples``, ``attempt``, ``interruption``, ``checkpoint``, ``warning`` or
    ``failure``."""

    host: str
    """``algo-1``, …, or empty for the run as a whole."""

    message: str
    """One sentence: what happened, and what it means."""


ALONE, SAME_SAMPLES = "alone", "same_samples"
"""Kinds of events that tell why several trainers are no more than one."""


@dataclass(frozen=True, kw_only=True)
class RunRecords:
    """Everything that is known of one run, in memory."""

    job: TrainingJob
    """What was run; ``job_name`` is set."""

    state: str
    """SageMaker's spelling: ``Completed``, ``Failed``, …"""

    started_s: float | None
    """When the instances were started, in seconds since the epoch."""

    ended_s: float | None
    """When the last instance ended, in seconds since the epoch."""

    facts: dict[str, object] = field(default_factory=dict)
    """How it was run: CPU quota mechanism, cores per vCPU, quota of each host, versions."""

    steps: dict[str, list[StepRecord]] = field(default_factory=dict)
    """Step records of each rank, by ``<host>-rank<rank>``, in order."""

    buckets: dict[str, list[BucketRecord]] = field(default_factory=dict)
    """Buckets of gradients that each rank exchanged, in order; empty: none were timed."""

    system: dict[str, list[SystemSample]] = field(default_factory=dict)
    """System samples of each host, in order."""

    loader: dict[str, list[LoaderRecord]] = field(default_factory=dict)
    """Loader records of each rank, in order."""

    compiler: dict[str, CompilerReport] = field(default_factory=dict)
    """What the compiler did in each rank, by ``<host>-rank<rank>``; empty: it was not asked."""

    events: list[EventRecord] = field(default_factory=list)
    """Events of all hosts, by time."""

    environment: RecordedEnvironment | None = None
    """What was installed where the entry point ran; None: not known."""

    attempts: tuple[Attempt, ...] = ()
    """Each start of its instances, in order."""

    pipeline: PipelineRecords | None = None
    """How its model is cut into stages, and what these computed when; None: it is not cut."""

    @property
    def label(self) -> str:
        """The name of the run's cluster in a comparison."""
        return self.job.cluster.label
