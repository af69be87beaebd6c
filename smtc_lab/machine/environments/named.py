"""The environments of this user, by name."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.home import home

TODAY = "today"
"""Name of the environment that launches."""

XLA = "xla"
"""Name of the environment that has torch_xla."""

ENVIRONMENTS_VARIABLE = "SMTC_LAB_ENVIRONMENTS"
"""Environment variable that moves the folder of all environments."""

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
"""What a name looks like, as a regular expression."""

TORCH = r"torch-(\d+\.\d+(?:\.\d+)?)"
"""Names of environments that can be made from the version of torch in them."""

_FILE = "environment.json"
_MOST_CHARACTERS = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class PythonEnvironment:
    """A name for an interpreter."""

    name: str
    """What a job calls it."""

    python: str
    """Path of its interpreter."""

    made_from: str | None = None
    """What it was made from here, in words; None: it existed before."""


def other_environment(name: object) -> str:
    """Return the name of a run's environment where it is told; empty: it is today's.

    Args:
        name: What a launcher wrote down; None: nothing.
    """
    return "" if name is None or name == TODAY else str(name)


def environments_root() -> Path:
    """Return the folder of all environments, one folder each."""
    given = os.environ.get(ENVIRONMENTS_VARIABLE)
    return Path(given).expanduser().resolve() if given else home() / "environments"


def folder_of(name: str) -> Path:
    """Return the folder of an environment, whether it is there or not.

    Raises:
        PythonEnvironmentError: That cannot be a name.
    """
    if not re.fullmatch(NAME, name) or name == TODAY:
        reserved = " It names the environment that launches." if name == TODAY else ""
        raise PythonEnvironmentError(
            f"{name[:80]!r} cannot be the name of an environment.{reserved} Take 1 to 63 "
            "letters, digits, '.', '_' and '-', a letter or digit first."
        )
    return environments_root() / name


def environments() -> list[PythonEnvironment]:
    """Return all that there are, by name; what is unfinished or damaged is left out."""
    root = environments_root()
    found = []
    for path in sorted(root.glob(f"*/{_FILE}")) if root.is_dir() else ():
        with contextlib.suppress(PythonEnvironmentError):
            found.append(_read(path.parent.name))
    return found


def has_environment(name: str) -> bool:
    """Return whether there is an environment of that name."""
    return any(each.name == name for each in environments())


def find_environment(name: str) -> PythonEnvironment:
    """Return the environment of a name.

    Raises:
        PythonEnvironmentError: There is none, or its file is damaged.
    """
    if (folder_of(name) / _FILE).is_file():
        return _read(name)
    known = [each.name for each in environments()]
    alike = difflib.get_close_matches(name, known)
    those = f"There are: {', '.join([TODAY, *known])}."
    hint = f"Did you mean {alike[0]!r}?" if alike else those
    is_known = name == XLA or re.fullmatch(TORCH, name)
    options = "" if is_known else " --requirements FILE"
    raise PythonEnvironmentError(
        f"There is no environment named {name!r}. {hint} Make it with 'smtc-lab environment "
        f"make {name}{options}', or give an existing one this name: 'smtc-lab environment add "
        f"{name} FOLDER'."
    )


def keep_environment(environment: PythonEnvironment) -> None:
    """Write down what a name stands for; the folder is there.

    Raises:
        OSError: It cannot be written.
    """
    file = folder_of(environment.name) / _FILE
    new = file.with_suffix(".new")
    new.write_text(json.dumps(asdict(environment), indent=1), encoding="utf-8")
    new.replace(file)


def add_environment(name: str, where: Path) -> PythonEnvironment:
    """Give a name to an environment that exists; nothing of it is changed.

    Args:
        name: The name.
        where: A virtual environment, a conda prefix, or an interpreter.

    Raises:
        PythonEnvironmentError: There is no interpreter, or the name is taken or none.
    """
    folder = folder_of(name)
    python = where / "bin" / "python" if where.is_dir() else where
    # not resolved: an interpreter knows its environment by the path that it is started with
    python = Path(os.path.abspath(python.expanduser()))  # noqa: PTH100  as said
    if not os.access(python, os.X_OK) or python.is_dir():
        raise PythonEnvironmentError(
            f"{str(where)!r} has no interpreter at {str(python)!r}. Give a virtual "
            "environment, a conda prefix, or the path of a Python."
        )
    if (folder / _FILE).is_file():
        raise PythonEnvironmentError(
            f"An environment named {name!r} is there already ({_read(name).python}). Remove "
            f"it with 'smtc-lab environment remove {name}', or take another name."
        )
    environment = PythonEnvironment(name=name, python=str(python))
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        keep_environment(environment)
    except OSError as error:
        raise PythonEnvironmentError(
            f"The environment {name!r} cannot be written to {str(folder)!r}: {error.strerror}. "
            f"Free the place, or set {ENVIRONMENTS_VARIABLE} to another folder."
        ) from error
    return environment


def remove_environment(name: str) -> None:
    """Forget a name, and remove what was made for it; what existed before stays.

    Raises:
        PythonEnvironmentError: There is no such environment, or it cannot be removed.
    """
    folder = folder_of(name)
    if not folder.is_dir():
        find_environment(name)
    try:
        (folder / _FILE).unlink(missing_ok=True)  # first: what is half removed is none
        shutil.rmtree(folder)
    except OSError as error:
        raise PythonEnvironmentError(
            f"The environment {name!r} cannot be removed from {str(folder)!r}: "
            f"{error.strerror}. Remove that folder by hand."
        ) from error


def _read(name: str) -> PythonEnvironment:
    file = folder_of(name) / _FILE
    try:
        with file.open(encoding="utf-8") as text:
            read = PythonEnvironment(**json.loads(text.read(_MOST_CHARACTERS)))
    except (OSError, ValueError, TypeError) as error:
        raise PythonEnvironmentError(
            f"What is known of the environment {name!r} cannot be read ({error}). Remove it "
            f"with 'smtc-lab environment remove {name}', and make it again."
        ) from error
    return PythonEnvironment(name=name, python=str(read.python), made_from=read.made_from)
