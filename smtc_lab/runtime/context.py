"""What a process of an instance knows about itself, from the environment of its launcher."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, cast

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.elsewhere.started import SERVED_VARIABLE
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.compiler.kept import Kept
    from smtc_lab.spec.compiler import TrainingCompilerConfig


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

    seed: int
    """Seed of the job."""

    address: str
    """Address that a data server of this instance listens on."""

    data_servers: dict[str, str]
    """Address of each data instance, by host; empty in a homogeneous job."""

    num_workers: int | None
    """Data workers that fit this instance: one for each core of its quota; None: unknown."""

    num_loader_workers: int | None
    """Data workers on a training instance, where the job says so; None: as the script says."""

    max_steps: int | None
    """Optimizer steps after which the run ends with success; None: when the script ends."""

    compiler: TrainingCompilerConfig | None
    """Compiler settings of this trainer; None: its steps run as they are."""

    parity_steps: int | None
    """Steps of a parity launch, which leaves dropout out and records losses and weights; None:
    an ordinary launch."""

    kept: Kept | None
    """What ``auto`` chose in the job's first steps, before the script started anew in this
    process; None: this is its first."""

    measure: Measure | None
    """What a launch of a calibration measures; None: an ordinary launch."""

    device_step_time_s: float | None
    """Declared step time of the emulated device in seconds; None: there is none."""

    run_folder: RunFolder | None
    """Folder of the run; None: outside a job, or out of reach."""

    ready_fd: int | None
    """Where to say that work begins; None: nobody listens."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the context that the launcher described.

        Raises:
            EntryPointError: A variable of the launcher is damaged; names it.
        """
        try:
            hosts = json.loads(environment.get("SMTC_HOSTS", "{}"))
            data_hosts = json.loads(environment.get("SMTC_DATA_HOSTS", "[]"))
            is_served = SERVED_VARIABLE in environment  # its parent keeps the records
            folder = None if is_served else environment.get("SMTC_RUN_ID")
            parity_steps = _whole(environment, "SMTC_PARITY_STEPS")
            return cls(
                role=cast('Literal["train", "data"]', environment.get("SMTC_ROLE", "train")),
                host=environment.get("SM_CURRENT_HOST", "localhost"),
                rank=int(environment.get("RANK", "0")),
                world_size=int(environment.get("WORLD_SIZE", "1")),
                seed=int(environment.get("SMTC_SEED", "0")),
                address=environment.get("SMTC_ADDRESS", "127.0.0.1"),
                data_servers={host: hosts[host] for host in data_hosts},
                num_workers=_whole(environment, "SMTC_NUM_WORKERS"),
                num_loader_workers=_whole(environment, "SMTC_NUM_LOADER_WORKERS"),
                max_steps=parity_steps or _whole(environment, "SMTC_MAX_STEPS"),
                compiler=_compiler(environment, is_parity=parity_steps is not None),
                parity_steps=parity_steps,
                kept=_kept(environment),
                measure=_measure(environment),
                device_step_time_s=_number(environment, "SMTC_DEVICE_STEP_TIME_S"),
                run_folder=RunFolder(Path(folder)) if folder else None,
                ready_fd=_whole(environment, "SMTC_READY_FD"),
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

    def say_ready(self) -> None:
        """Tell the agent that work begins: from now on the CPU quota applies."""
        if self.ready_fd is None:
            return
        try:
            os.write(self.ready_fd, b"ready\n")
        except OSError:  # nobody listens any more; the agent applies the quota by itself
            return


def _compiler(
    environment: Mapping[str, str], *, is_parity: bool
) -> TrainingCompilerConfig | None:
    """Return the compiler settings; a parity launch without any records its eager steps."""
    text = environment.get("SMTC_COMPILER")
    if not text and not is_parity:
        return None
    from smtc_lab.spec.compiler import TrainingCompilerConfig  # noqa: PLC0415  others start without pydantic

    plain = TrainingCompilerConfig(backend="eager", fused_optimizer=False, keep_memory=False)
    config = TrainingCompilerConfig.model_validate_json(text) if text else plain
    if config.enabled:
        return config
    return plain if is_parity else None


def _kept(environment: Mapping[str, str]) -> Kept | None:
    if "SMTC_XLA_KEPT" not in environment:
        return None
    from smtc_lab.compiler.kept import Kept  # noqa: PLC0415  others start without pydantic

    return Kept.from_environment(environment)


def _measure(environment: Mapping[str, str]) -> Measure | None:
    text = environment.get("SMTC_MEASURE")
    return Measure(**json.loads(text)) if text else None


def _whole(environment: Mapping[str, str], name: str) -> int | None:
    return int(environment[name]) if environment.get(name) else None


def _number(environment: Mapping[str, str], name: str) -> float | None:
    return float(environment[name]) if environment.get(name) else None
