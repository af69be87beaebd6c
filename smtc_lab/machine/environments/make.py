"""Makes an environment from requirements with hashes, by uv."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments.named import (
    ENVIRONMENTS_VARIABLE,
    TORCH,
    XLA,
    PythonEnvironment,
    environments,
    folder_of,
    keep_environment,
)
from smtc_lab.machine.environments.probe import NEEDED, environment_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_XLA_LOCK = Path(__file__).with_name("xla.txt")
_XLA_NEWEST_PYTHON = (3, 13)
_OLDEST_TORCH = (2, 9)
_OF_THIS_PROJECT = (
    "accelerate>=1.1",
    "scikit-learn>=1.5",
    "torchvision",
    "transformers>=4.57,<6",
)
_LAST_CHARACTERS = 1500


def make_environment(
    name: str,
    *,
    requirements: Path | None = None,
    python: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> PythonEnvironment:
    """Make an environment, once: one that is there, of the same requirements, stays.

    Args:
        name: ``xla``; ``torch-2.11`` or any other version of torch; or, with requirements, any.
        requirements: A requirements file. One without hashes is resolved first, together with
            what a job needs; what came of it is kept as ``requirements.txt``.
        python: Interpreter, or version of Python, as uv takes it; None: the launching one's.
        say: Told in a sentence what is being done.

    Raises:
        PythonEnvironmentError: It cannot be made; nothing of it is left.
    """
    folder = folder_of(name)
    wanted = _wanted(name, requirements)
    source = hashlib.sha256(wanted.encode()).hexdigest()[:16]
    made_from = f"{requirements.name if requirements else name}, sha256 {source}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(folder):
            known = [one for one in environments() if one.name == name]
            if known and known[0].made_from == made_from and Path(known[0].python).exists():
                say(f"The environment {name!r} is there already, of the same requirements.")
                return known[0]
            if known and known[0].made_from is None:
                raise PythonEnvironmentError(
                    f"The name {name!r} stands for {known[0].python}, which was not made here. "
                    f"Remove it with 'smtc-lab environment remove {name}', or take another "
                    "name."
                )
            return _Maker(name, folder, say).make(wanted, made_from, python)
    except OSError as error:
        raise PythonEnvironmentError(
            f"The environment {name!r} cannot be written to {str(folder)!r}: {error.strerror}. "
            f"Free the place, or set {ENVIRONMENTS_VARIABLE} to another folder."
        ) from error


def _wanted(name: str, requirements: Path | None) -> str:
    """Return the requirements of an environment as text."""
    if requirements is not None:
        try:
            return requirements.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise PythonEnvironmentError(
                f"The requirements {str(requirements)!r} cannot be read ({error}). Correct the "
                "path."
            ) from error
    if name == XLA:
        return _XLA_LOCK.read_text(encoding="utf-8")
    if match := re.fullmatch(TORCH, name):
        if tuple(map(int, match[1].split(".")[:2])) < _OLDEST_TORCH:
            raise PythonEnvironmentError(
                f"torch {match[1]} is older than 2.9, the oldest one that jobs run on. Take "
                "'torch-2.9' or a newer one."
            )
        exact = match[1].count(".") == 2
        return "\n".join([f"torch=={match[1]}{'' if exact else '.*'}", *_OF_THIS_PROJECT])
    raise PythonEnvironmentError(
        f"How to make an environment named {name!r} is not known. Give a requirements file: "
        f"'smtc-lab environment make {name} --requirements FILE'; or make 'xla', or "
        "'torch-2.11' with any version of torch from 2.9 on."
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until nobody else makes this environment."""
    # beside the folder, which may be removed
    lock = os.open(folder.with_name(f".{folder.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.mkdir(exist_ok=True, mode=0o700)
        yield
    finally:
        os.close(lock)


class _Maker:
    """Makes one environment in its folder."""

    def __init__(self, name: str, folder: Path, say: Callable[[str], None]) -> None:
        self._name, self._folder, self._say = name, folder, say
        self._uv = _uv()
        self._venv = folder / "venv"

    def make(self, wanted: str, made_from: str, python: str | None) -> PythonEnvironment:
        (self._folder / "environment.json").unlink(missing_ok=True)
        shutil.rmtree(self._venv, ignore_errors=True)
        made = PythonEnvironment(
            name=self._name, python=str(self._venv / "bin" / "python"), made_from=made_from
        )
        try:
            self._run("venv", "--seed", "--python", python or self._own_python(), self._venv)
            lock = self._folder / "requirements.txt"
            lock.write_text(wanted, encoding="utf-8")
            if "--hash=" not in wanted:
                self._say(f"Resolving the packages of {self._name!r}.")
                self._resolve(lock, wanted)
            count = len(re.findall(r"^[A-Za-z0-9]", lock.read_text("utf-8"), re.MULTILINE))
            self._say(
                f"Installing {count} packages into {self._venv}. torch for CUDA and its "
                "libraries take up to 9 GB, less where uv has them already."
            )
            self._run("pip", "install", "--require-hashes", "-r", lock, "--python", made.python)
            keep_environment(made)
            environment_facts(self._name)
        except BaseException:  # a stop by Ctrl-C too leaves nothing behind
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return made

    def _own_python(self) -> str:
        if self._name == XLA and sys.version_info[:2] > _XLA_NEWEST_PYTHON:
            return ".".join(map(str, _XLA_NEWEST_PYTHON))
        return getattr(sys, "_base_executable", sys.executable)

    def _resolve(self, lock: Path, wanted: str) -> None:
        given = self._folder / "requirements.in"
        given.write_text("\n".join([wanted, *NEEDED.values()]) + "\n", encoding="utf-8")
        quiet = ("--quiet", "--no-header", "--no-annotate", "--no-emit-index-url")
        python = self._venv / "bin" / "python"
        self._run(
            *("pip", "compile", *quiet, "--generate-hashes", "--python", python),
            *("--output-file", lock, given),
        )

    def _run(self, *arguments: str | Path) -> None:
        ended = subprocess.run(  # noqa: S603  uv, without a shell
            [self._uv, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
        )
        if ended.returncode:
            said = ended.stderr.strip()[-_LAST_CHARACTERS:]
            raise PythonEnvironmentError(
                f"The environment {self._name!r} cannot be made; uv said: {said}\nMend that, "
                "and try again; nothing of it is left."
            )


def _uv() -> str:
    """Return the path of uv.

    Raises:
        PythonEnvironmentError: It is not installed.
    """
    try:
        from uv import find_uv_bin  # noqa: PLC0415  only making needs it

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        if found := shutil.which("uv"):
            return found
    raise PythonEnvironmentError(
        "Environments are made by uv, which is not installed. Run: "
        f"{sys.executable} -m pip install uv"
    )
