"""What ``torchrun`` tells each trainer; scripts see by it whether they are one of several."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.instance import variables as names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.instance.description import InstanceDescription, Rendezvous, Trainer

_OF_TORCHRUN = re.compile(
    r"(RANK|(LOCAL|GROUP|ROLE)_RANK|((LOCAL|GROUP|ROLE)_)?WORLD_SIZE|ROLE_NAME"
    r"|MASTER_(ADDR|PORT)|TORCHELASTIC_\w+)$"
)


def without_ranks(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a process's variables but for those by which it would be one of several."""
    return {name: text for name, text in environment.items() if not _OF_TORCHRUN.match(name)}


def rank_variables(
    told: InstanceDescription, trainer: Trainer, rendezvous: Rendezvous
) -> dict[str, str]:
    """Return what ``torchrun`` would tell a trainer, and the folder of its rank."""
    variables = {
        "RANK": str(trainer.rank),
        "LOCAL_RANK": str(trainer.local_rank),
        "GROUP_RANK": str(rendezvous.group_rank),
        "WORLD_SIZE": str(rendezvous.world_size),
        "LOCAL_WORLD_SIZE": str(len(told.trainers)),
        "MASTER_ADDR": told.hosts[rendezvous.host],
        "MASTER_PORT": str(rendezvous.port),
    }
    if told.distribution is not None:
        variables |= _torchrun_variables(told, trainer, rendezvous)
    if len(told.trainers) > 1:
        variables[names.CHECKPOINT_FOLDER_VARIABLE] = f"rank{trainer.rank}"
    return variables


def _torchrun_variables(
    told: InstanceDescription, trainer: Trainer, rendezvous: Rendezvous
) -> dict[str, str]:
    """Return what only ``torchrun`` tells: libraries know by it that they were started n times.

    Its agent's store is not there to be used; and what failed is not started again in place.
    """
    return {
        "ROLE_NAME": "default",
        "ROLE_RANK": str(trainer.rank),
        "ROLE_WORLD_SIZE": str(rendezvous.world_size),
        "GROUP_WORLD_SIZE": str(rendezvous.num_groups),
        "TORCHELASTIC_RUN_ID": Path(told.run_folder).name,
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_USE_AGENT_STORE": "False",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
    }
