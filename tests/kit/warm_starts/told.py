"""What a process is told that is forked in place of being started, and which can be."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_PASSED = 200
"""Descriptors that a process may be passed; the kernel has room for a few more."""

READ_AT_IMPORT = re.compile(
    r"PYTHON(?!PATH$|UNBUFFERED$)\w*|LANG|LC_\w+|LD_\w+|MALLOC_\w+|GLIBC_\w+"
    r"|(GOMP|KMP|TORCH|PYTORCH|TRITON|XLA|PJRT|SMTC_XLA)_\w+"
    r"|(OMP|MKL|OPENBLAS)_(?!NUM_THREADS$|WAIT_POLICY$)\w+"
)
"""Variables that Python, or what is imported ahead, reads once: with others it starts anew."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """How a process is to be."""

    command: list[str]
    """The interpreter, ``-m``, a module of ours (none that measures the machine), arguments."""

    environment: dict[str, str]
    """All of its variables."""

    folder: str | None
    """Its working directory; None: that of the process it is forked from."""

    passed: list[int]
    """Descriptors that it inherits beside the three streams."""

    new_session: bool
    """Whether it leads a session of its own."""

    group: int
    """Its process group; 0: one of its own, -1: that of who asked."""

    asked_from: dict[str, Any] = field(default_factory=dict)
    """What else it would inherit from who asked, where that is not what forks it."""


def told(values: Mapping[str, Any], read: Mapping[str, str]) -> Told | None:
    """Return what a process is told; None: it has to be started as any other program.

    Args:
        values: Arguments of ``subprocess.Popen._execute_child``, by name.
        read: Variables that were there when modules were imported ahead.
    """
    if isinstance(values["args"], str | bytes | os.PathLike) or values["shell"]:
        return None
    command = [os.fsdecode(each) for each in values["args"]]
    is_ours = command[:2] == [sys.executable, "-m"] and re.match(
        r"smtc_lab(\.(?!machine\.)|$)", "".join(command[2:3])
    )
    is_plain = (
        values["executable"] is None
        and values["close_fds"]
        and values["restore_signals"]
        and all(values[name] in {None, -1} for name in ("gid", "uid", "umask"))
        and values["gids"] is None
        and len(values["pass_fds"]) <= MOST_PASSED
    )
    given = os.environ if values["env"] is None else values["env"]
    environment = {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}
    if not is_ours or not is_plain or _is_other(environment, read):
        return None
    return Told(
        command=command,
        environment=environment,
        folder=None if values["cwd"] is None else os.fsdecode(values["cwd"]),
        passed=list(values["pass_fds"]),
        new_session=bool(values["start_new_session"]),
        group=values.get("process_group", -1),
    )


def _is_other(environment: Mapping[str, str], read: Mapping[str, str]) -> bool:
    """Return whether Python would start otherwise than the one that has imported ahead."""
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    return read_at_import(environment) != read_at_import(read) or any(
        os.path.exists(os.path.join(folder, f"{name}customize.py"))  # noqa: PTH110, PTH118  pathlib is slow to import
        for folder in paths
        for name in ("site", "user")
    )


def read_at_import(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are read once, when modules are imported."""
    return {
        name: value for name, value in environment.items() if READ_AT_IMPORT.fullmatch(name)
    }
