"""What an instance and its trainers are told: ``agent.json``, from a launcher to an agent."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.link import LinkDeclaration
from smtc_lab.instance.mesh import TrainerLayout
from smtc_lab.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MEASURED_FILE = "output/data/measured.json"
"""Where a trainer that measures leaves what it saw, below ``SAGEMAKER_BASE_DIR``."""

GRADIENTS_FILE = "output/data/gradients.json"
"""Where it leaves which gradients were ready when."""


@dataclass(frozen=True, kw_only=True)
class Trainer:
    """One trainer of an instance: a process with records, logs and checkpoints of its own."""

    rank: int
    """Its number among the trainers of the job."""

    local_rank: int
    """Its number among the trainers of its instance, from 0."""

    devices: tuple[int, ...] | None = None
    """Accelerators that it sees, as ``CUDA_VISIBLE_DEVICES`` numbers them; None: all that the
    instance has, and the script chooses by local rank."""


@dataclass(frozen=True, kw_only=True)
class Rendezvous:
    """How the trainers of an instance find those of the whole job."""

    host: str
    """The instance of rank 0."""

    port: int = 7777
    """Port of rank 0, on the address of that instance."""

    world_size: int
    """Trainers of the job."""

    group_rank: int
    """Number of this instance among those that have trainers, from 0: the node rank."""

    num_groups: int = 1
    """Instances that have trainers."""

    in_folder: bool = False
    """Whether all trainers see one run folder, and meet there in a file; else at the port."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a launch of a calibration measures, in which a trainer ends by itself."""

    what: Literal["resident", "loader", "run"]
    """``resident``: steps whose batch is already there: the first one again and again.
    ``loader``: batches, and no step. ``run``: the script as it is."""

    seconds: float
    """How long to measure after the first steps, in seconds."""

    batch_size: int | None
    """Samples of a batch; None: as the script says."""


@dataclass(frozen=True, kw_only=True)
class InstanceDescription:
    """What an instance is told, with its trainers."""

    run_folder: str
    """Folder of the run."""

    host: str
    """Name of the instance: ``algo-1``, …"""

    role: Literal["train", "data"] = "train"
    """What it does."""

    runs_script: bool = False
    """Whether it runs the entry point though it is a data instance, which else serves."""

    hosts: dict[str, str]
    """Address of every host of the job."""

    data_hosts: tuple[str, ...] = ()
    """The hosts that serve dataloaders of the others."""

    instance_groups: tuple[tuple[str, str, int], ...]
    """Name, instance type and count of each group, in the job's order."""

    trainers: tuple[Trainer, ...] = ()
    """Its trainers; empty: the entry point runs once, and trains nothing."""

    rendezvous: Rendezvous | None = None
    """How its trainers find the others; None: it has none."""

    distribution: TrainerLayout | None = None
    """How the trainers of the job share its model; None: the job does not say."""

    command: tuple[str, ...]
    """What to run, before the hyperparameters as arguments."""

    hyperparameters: dict[str, Any]
    """Hyperparameters of the job, SageMaker's own among them."""

    arguments: tuple[str, ...] = ()
    """Arguments behind those that the hyperparameters become."""

    channels: dict[str, str]
    """Folder of each channel of this instance."""

    metric_definitions: tuple[dict[str, str], ...] = ()
    """Metrics that are found in what its entry points print: ``Name`` and ``Regex`` each."""

    environment: dict[str, str]
    """Variables for the entry point: the job's, and those of libraries."""

    num_cpus: int
    """What ``SM_NUM_CPUS`` says; torch and OpenMP take a trainer's share of it."""

    num_gpus: int
    """What ``SM_NUM_GPUS`` says."""

    cpu_quota_cores: float | None
    """Cores that the instance may use, all its trainers together; None: no limit."""

    vcpu: str | None = None
    """Its vCPUs, to one of which each process is held that loads, as ``vcpu_text`` has them;
    None: they are held to nothing but the limit of the instance."""

    passes_outside_quota: bool = False
    """Whether that limit is for what prepares data alone, and its trainers compute in place of
    an emulated device."""

    num_workers: int | None = None
    """Data workers that fit each process of it; None: not known."""

    num_loader_workers: int | None = None
    """Data workers of each trainer, where the job says so; None: as the script says."""

    seed: int = 0
    """Seed of the job."""

    max_steps: int | None = None
    """Optimizer steps after which a trainer ends with success; None: when the script ends."""

    device_step_time_s: float | None = None
    """Declared step time of the emulated device in seconds; None: there is none."""

    link: LinkDeclaration | None = None
    """Declared network between the trainers; None: there is none."""

    compiler: str | None = None
    """The TrainingCompilerConfig as JSON; None: plain eager."""

    parity_steps: int | None = None
    """Steps of a parity launch; None: an ordinary launch."""

    permutes_samples: bool = False
    """Whether a parity launch permutes the samples of each batch."""

    measure: Measure | None = None
    """What a launch of a calibration measures; None: an ordinary launch."""

    working_folder: str | None = None
    """Folder in which its entry points work; None: that in which they are started."""

    memory_limit_bytes: int | None = None
    """Memory that each process of the entry point may take for its data; None: no limit."""

    resource_config: dict[str, Any] | None = None
    """Content of ``resourceconfig.json``, where the platform wrote it; None: made here."""

    grace_s: float
    """Time between TERM and KILL in seconds."""

    package_version: str = __version__
    """Version of the package that launches; an agent of another one refuses."""

    def __post_init__(self) -> None:
        if self.trainers and self.rendezvous is None:
            raise ValueError(
                f"Instance {self.host!r} has {len(self.trainers)} trainers, but no rendezvous "
                "to find the others. Give it one, or no trainers."
            )

    @property
    def address(self) -> str:
        """Address that the instance listens on."""
        return self.hosts[self.host]

    @property
    def has_lone_trainer(self) -> bool:
        """Whether the job has one trainer and no ``distribution``: nobody is told of ranks."""
        found = self.rendezvous
        instances = len(self.hosts) - len(self.data_hosts)
        trainers = instances if found is None else found.world_size
        return self.distribution is None and trainers == 1

    @property
    def threads(self) -> int:
        """Threads that torch and OpenMP take in each process, at least 1."""
        return max(1, self.num_cpus // max(1, len(self.trainers)))

    def to_json(self) -> str:
        """Return the content of ``agent.json``."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return what a launcher wrote.

        Args:
            values: Content of ``agent.json``.

        Raises:
            EntryPointError: Another version of this package wrote it, which may mean something
                else by it; or it is damaged.
        """
        launching = values.get("package_version")
        if launching not in {None, __version__}:
            raise EntryPointError(
                f"This instance has smtc_lab {__version__}, but {launching} launched "
                "it. Install the same version on all machines of the job."
            )
        rendezvous, measure = values.get("rendezvous"), values.get("measure")
        distribution, link = values.get("distribution"), values.get("link")
        try:
            typed = {
                "data_hosts": tuple(values.get("data_hosts", ())),
                "instance_groups": tuple(map(_group, values["instance_groups"])),
                "trainers": tuple(map(_trainer, values.get("trainers", ()))),
                "rendezvous": None if rendezvous is None else Rendezvous(**rendezvous),
                "distribution": None if distribution is None else TrainerLayout(**distribution),
                "link": None if link is None else LinkDeclaration.from_values(link),
                "command": tuple(values["command"]),
                "arguments": tuple(values.get("arguments", ())),
                "metric_definitions": tuple(values.get("metric_definitions", ())),
                "measure": None if measure is None else Measure(**measure),
            }
            return cls(**{**values, **typed})
        except (TypeError, ValueError, KeyError) as error:
            raise EntryPointError(
                f"What instance {values.get('host')!r} was told is damaged ({error}). Launch "
                "the job again."
            ) from error


def trainers_of(
    ranks: Iterable[int], devices: Iterable[int] | None = None
) -> tuple[Trainer, ...]:
    """Return the trainers of an instance, by rank, each with its number on the instance.

    Args:
        ranks: Their ranks.
        devices: Accelerators of the machine that are the instance's. Each trainer sees them
            all, and its script chooses one by local rank, as under ``torchrun``. None: all.
    """
    seen = None if devices is None else tuple(devices)
    return tuple(
        Trainer(rank=rank, local_rank=place, devices=seen) for place, rank in enumerate(ranks)
    )


def _group(values: Iterable[Any]) -> tuple[str, str, int]:
    name, instance_type, count = values
    return name, instance_type, count


def _trainer(values: Mapping[str, Any]) -> Trainer:
    devices = values.get("devices")
    return Trainer(**{**values, "devices": None if devices is None else tuple(devices)})
