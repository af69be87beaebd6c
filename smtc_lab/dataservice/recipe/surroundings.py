"""What of a trainer's process its data workers share, beside the loader itself.

Data workers that are forked have all of it. Elsewhere they have what is sent: where modules are
found, the working folder, the variables that the script has set, and torch's settings.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from typing import Self

import torch

from smtc_lab.dataservice.batch_types.known import name_script, script_file

_OF_INSTANCE = ("SMTC_", "SM_", "SAGEMAKER_", "CUDA_", "GLOO_", "NCCL_", "LD_", "PYTHON")
_OF_PROCESS = frozenset(
    {
        *("RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
        *("MASTER_ADDR", "MASTER_PORT", "PATH", "HOME", "PWD", "OLDPWD", "TMPDIR"),
        *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainerSurroundings:
    """What data workers share with a trainer."""

    script: str
    """File of the script."""

    search_path: list[str]
    """Where modules are looked for."""

    folder: str | None
    """The working folder; None: it is gone."""

    variables: dict[str, str | None]
    """Environment variables that the process has set since it began; None: it took it away."""

    default_dtype: torch.dtype
    """Torch's default type."""

    is_deterministic: bool
    """Whether torch may use deterministic functions only."""

    @classmethod
    def here(cls) -> Self:
        """Return those of this process, now."""
        return cls(
            script=script_file(),
            search_path=[os.path.abspath(entry) for entry in sys.path],  # noqa: PTH100  "" is the working folder
            folder=_working_folder(),
            variables=_changed_variables(),
            default_dtype=torch.get_default_dtype(),
            is_deterministic=torch.are_deterministic_algorithms_enabled(),
        )

    def adopt(self) -> None:
        """Let this process have them, as far as they are here."""
        name_script(self.script)
        adopt_search_path(self.search_path)
        if self.folder is not None and os.path.isdir(self.folder):  # noqa: PTH112  as it came
            os.chdir(self.folder)
        for name, value in self.variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        torch.set_default_dtype(self.default_dtype)
        if self.is_deterministic:  # the call imports a compiler, which takes 0.8 s
            torch.use_deterministic_algorithms(mode=True)


def adopt_search_path(entries: list[str]) -> None:
    """Let modules be looked for where the trainer does, too, as far as that is here.

    What a script has put before all else goes before all else.
    """
    known = [number for number, entry in enumerate(entries) if entry in sys.path]
    first = known[0] if known else 0
    ahead, behind = (
        [entry for entry in some if entry not in sys.path and os.path.exists(entry)]  # noqa: PTH110  as it came
        for some in (entries[:first], entries[first:])
    )
    sys.path[:] = [*ahead, *sys.path, *behind]


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109  as it is sent
    except FileNotFoundError:
        return None


def _changed_variables() -> dict[str, str | None]:
    before, now = _variables_at_start(), dict(os.environ)
    names = sorted(name for name in before.keys() | now.keys() if _is_the_scripts(name))
    return {name: now.get(name) for name in names if before.get(name) != now.get(name)}


def _is_the_scripts(name: str) -> bool:
    return name not in _OF_PROCESS and not name.startswith(_OF_INSTANCE)


@cache
def _variables_at_start() -> dict[str, str]:
    """Return the variables that this process was started with."""
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123  it has no size
            said = file.read()
    except OSError:
        return dict(os.environ)
    pairs = (entry.partition(b"=") for entry in said.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
