"""What a process of an instance knows about itself: its variables, written and read."""

from __future__ import annotations

import ipaddress
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast

from smtc_lab.errors import EntryPointError
from smtc_lab.instance import variables as names
from smtc_lab.instance.description import Measure
from smtc_lab.instance.link import LinkDeclaration
from smtc_lab.instance.mesh import TrainerLayout
from smtc_lab.instance.progress import StepCounters
from smtc_lab.instance.torchrun import rank_variables
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.instance.description import InstanceDescription, Trainer
    from smtc_lab.spec.compiler import TrainingCompilerConfig

_Told = TypeVar("_Told")
READY_WORD, DONE_WORD = b"ready\n", b"done\n"
"""What a process says to its agent: its work begins, and no further step comes."""

LAST_STEP_WORD = b"last step\n"
"""What it says once it has taken the job's last step, which is to end it."""


def process_variables(told: InstanceDescription, trainer: Trainer | None) -> dict[str, str]:
    """Return the variables that ``InstanceContext`` reads in one process of an instance.

    The run's folder is not among them: every process of a run has it from the first on.

    Args:
        told: What the instance is told.
        trainer: The trainer that the process is; None: the instance has none.
    """
    values: dict[str, object] = {
        names.ROLE_VARIABLE: told.role,
        names.RUNS_VARIABLE: "script" if told.runs_script else None,
        names.SEED_VARIABLE: told.seed,
        names.ADDRESS_VARIABLE: told.address,
        names.HOSTS_VARIABLE: told.hosts,
        names.DATA_HOSTS_VARIABLE: told.data_hosts,
        names.NUM_WORKERS_VARIABLE: told.num_workers,
        names.NUM_LOADER_WORKERS_VARIABLE: told.num_loader_workers,
        names.DISTRIBUTION_VARIABLE: told.distribution and asdict(told.distribution),
        names.LONE_TRAINER_VARIABLE: 1 if told.has_lone_trainer else None,
        names.MAX_STEPS_VARIABLE: told.max_steps,
        names.DEVICE_STEP_TIME_VARIABLE: told.device_step_time_s,
        names.LINK_VARIABLE: told.link and told.link.to_values(),
        names.COMPILER_VARIABLE: told.compiler,
        names.PARITY_STEPS_VARIABLE: told.parity_steps,
        names.PERMUTES_VARIABLE: 1 if told.permutes_samples else None,
        names.MEASURE_VARIABLE: None if told.measure is None else asdict(told.measure),
    }
    told_variables = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if value is not None
    }
    if trainer is None or told.rendezvous is None:
        return told_variables
    told_variables |= _machine_variables(told, trainer)
    if told.has_lone_trainer:
        return told_variables
    return {**told_variables, **rank_variables(told, trainer, told.rendezvous)}


def _machine_variables(told: InstanceDescription, trainer: Trainer) -> dict[str, str]:
    """Return which devices a trainer sees, and how it reaches others on this machine."""
    variables = {}
    if trainer.devices is not None:
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, trainer.devices))
    if ipaddress.ip_address(told.address).is_loopback:
        variables |= dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), "lo")
    return variables


@dataclass(frozen=True, kw_only=True)
class InstanceContext:
    """Where this process stands in its job. Outside a job: a single trainer, no records."""

    role: Literal["train", "data"]
    """What this instance does."""

    host: str
    """Name of this instance; ``localhost`` outside a job."""

    rank: int
    """Rank of this trainer."""

    world_size: int
    """Trainers of the job."""

    local_world_size: int
    """Trainers of this instance."""

    has_lone_trainer: bool
    """Whether the job has one trainer and no ``distribution``: what the environment says of
    ranks is the script's own."""

    distribution: TrainerLayout | None
    """How the trainers of the job share its model; None: the job does not say."""

    checkpoint_folder: str
    """Folder of this trainer below the instance's checkpoints; empty: it has them all."""

    seed: int
    """Seed of the job."""

    address: str
    """Address that a data server of this instance listens on."""

    data_servers: dict[str, str]
    """Address of each data instance, by host; empty in a homogeneous job."""

    num_workers: int | None
    """Data workers that fit this process: one for each core of its share; None: unknown."""

    num_loader_workers: int | None
    """Data workers on a training instance, where the job says so; None: as the script says."""

    allow_pickle: bool
    """Whether data servers may send objects of unknown types as pickles."""

    keeps_in_process: bool
    """Whether loaders with ``num_workers=0`` are never made by data servers."""

    max_steps: int | None
    """Optimizer steps after which the run ends with success; None: when the script ends."""

    compiler: TrainingCompilerConfig | None
    """Compiler settings of this trainer; None: its steps run as they are."""

    parity_steps: int | None
    """Steps of a launch that records losses and weights; None: it is an ordinary one."""

    permutes_samples: bool
    """Whether a parity launch permutes the samples of each batch."""

    measure: Measure | None
    """What a launch of a calibration measures; None: an ordinary launch."""

    device_step_time_s: float | None
    """Declared step time of the emulated device in seconds; None: there is none."""

    link: LinkDeclaration | None
    """Declared network between the trainers; None: there is none."""

    measures_communication: bool
    """Whether what trainers exchange is timed."""

    measures_noise: bool
    """Whether norms of gradients are recorded before and after they are averaged."""

    run_folder: RunFolder | None
    """Folder of the run; None: outside a job, or out of reach."""

    progress_file: Path | None
    """Where this trainer counts its steps; None: nobody looks."""

    ready_fd: int | None
    """Where to say that work begins or is done; None: nobody listens."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the context that the launcher described.

        Raises:
            EntryPointError: A variable of the launcher is damaged; names it.
        """
        try:
            hosts = json.loads(environment.get(names.HOSTS_VARIABLE, "{}"))
            data_hosts = json.loads(environment.get(names.DATA_HOSTS_VARIABLE, "[]"))
            folder = environment.get(names.RUN_VARIABLE)
            shown = environment.get(names.PROGRESS_VARIABLE)
            role = environment.get(names.ROLE_VARIABLE, "train")
            has_lone = environment.get(names.LONE_TRAINER_VARIABLE) == str(os.getpid())
            ranks = {} if has_lone else environment
            parity_steps = _whole(environment, names.PARITY_STEPS_VARIABLE)
            return cls(
                role=cast('Literal["train", "data"]', role),
                host=environment.get("SM_CURRENT_HOST", "localhost"),
                rank=int(ranks.get("RANK", "0")),
                world_size=int(ranks.get("WORLD_SIZE", "1")),
                local_world_size=int(ranks.get("LOCAL_WORLD_SIZE", "1")),
                has_lone_trainer=has_lone,
                distribution=_read(
                    environment, names.DISTRIBUTION_VARIABLE, lambda it: TrainerLayout(**it)
                ),
                checkpoint_folder=environment.get(names.CHECKPOINT_FOLDER_VARIABLE, ""),
                seed=int(environment.get(names.SEED_VARIABLE, "0")),
                address=environment.get(names.ADDRESS_VARIABLE, "127.0.0.1"),
                data_servers={host: hosts[host] for host in data_hosts},
                num_workers=_whole(environment, names.NUM_WORKERS_VARIABLE),
                num_loader_workers=_whole(environment, names.NUM_LOADER_WORKERS_VARIABLE),
                allow_pickle=environment.get(names.ALLOW_PICKLE_SETTING) == "1",
                keeps_in_process=environment.get(names.IN_PROCESS_SETTING) == "1",
                max_steps=parity_steps or _whole(environment, names.MAX_STEPS_VARIABLE),
                compiler=_compiler(environment, is_parity=parity_steps is not None),
                parity_steps=parity_steps,
                permutes_samples=environment.get(names.PERMUTES_VARIABLE) == "1",
                measure=_read(environment, names.MEASURE_VARIABLE, lambda it: Measure(**it)),
                device_step_time_s=_number(environment, names.DEVICE_STEP_TIME_VARIABLE),
                link=_read(environment, names.LINK_VARIABLE, LinkDeclaration.from_values),
                measures_communication=environment.get(names.MEASURE_COMMUNICATION_SETTING)
                != "0",
                measures_noise=environment.get(names.NOISE_SCALE_SETTING) == "1",
                run_folder=RunFolder(Path(folder)) if folder else None,
                progress_file=Path(shown) if shown else None,
                ready_fd=_whole(environment, names.READY_VARIABLE),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise EntryPointError(
                f"The environment of this instance is damaged ({error}). Unset the variables "
                "that begin with SMTC_, or start the script through smtc-lab."
            ) from error

    @property
    def secret(self) -> bytes | None:
        """The job's secret, which data servers and clients prove to each other."""
        if self.run_folder is None or not self.run_folder.secret_file.is_file():
            return None
        return self.run_folder.secret_file.read_bytes()

    def progress(self) -> StepCounters | None:
        """Return the counters that this trainer shows its agent; None: nobody looks."""
        if self.progress_file is None:
            return None
        try:
            return StepCounters(self.progress_file)
        except OSError:  # nobody sees it hang then, and nothing else
            return None

    def say_ready(self) -> None:
        """Tell the agent that work begins: from now on the CPU quota applies."""
        self._say(READY_WORD)

    def say_done(self) -> None:
        """Tell the agent that no further step comes: the CPU quota is lifted."""
        self._say(DONE_WORD)

    def say_last_step(self) -> None:
        """Tell the agent that the job's last step was taken: what comes now does not count."""
        self._say(LAST_STEP_WORD)

    def _say(self, word: bytes) -> None:
        if self.ready_fd is not None:
            with suppress(OSError):  # nobody listens any more; the agent goes on by itself
                os.write(self.ready_fd, word)


def _compiler(
    environment: Mapping[str, str], *, is_parity: bool
) -> TrainingCompilerConfig | None:
    """Return the compiler settings; a parity launch without any records its eager steps."""
    text = environment.get(names.COMPILER_VARIABLE)
    if not text and not is_parity:
        return None
    from smtc_lab.spec.compiler import TrainingCompilerConfig  # noqa: PLC0415  others start without pydantic

    plain = TrainingCompilerConfig(backend="eager", fused_optimizer=False, keep_memory=False)
    config = TrainingCompilerConfig.model_validate_json(text) if text else plain
    if config.enabled:
        return config
    return plain if is_parity else None


def _read(
    environment: Mapping[str, str], name: str, make: Callable[[dict[str, Any]], _Told]
) -> _Told | None:
    """Return what a variable holds as JSON; None: it is unset."""
    return make(json.loads(environment[name])) if environment.get(name) else None


def _whole(environment: Mapping[str, str], name: str) -> int | None:
    return int(environment[name]) if environment.get(name) else None


def _number(environment: Mapping[str, str], name: str) -> float | None:
    return float(environment[name]) if environment.get(name) else None
