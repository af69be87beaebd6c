"""What an environment is, asked of its interpreter."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments import packages as packages_file
from smtc_lab.machine.environments.named import TODAY, PythonEnvironment, find_environment
from smtc_lab.machine.environments.packages import installed_packages

OLDEST_PYTHON = (3, 11)
"""The oldest Python that this package runs with."""

NEEDED = {
    "apsw": "apsw>=3.51.3",
    "cloudpickle": "cloudpickle>=3.1",
    "cryptography": "cryptography>=43",
    "numpy": "numpy>=1.26",
    "psutil": "psutil>=6",
    "pydantic": "pydantic>=2.10",
    "torch": "torch>=2.9",
    "xxhash": "xxhash>=3.5",
}
"""What this package imports in the processes of a job, and what installs it."""

_LIMIT_S = 60.0
_MOST_CHARACTERS = 300


@dataclass(frozen=True, kw_only=True)
class EnvironmentFacts:
    """An environment as it was when it was asked."""

    name: str
    """What a job calls it."""

    python: str
    """Path of its interpreter."""

    version: str
    """Version of its Python."""

    packages: dict[str, str]
    """Version of each installed package, by its normalized name."""

    @property
    def torch(self) -> str | None:
        """Version of torch; None: it has none."""
        return self.packages.get("torch")

    @property
    def why_not_xla(self) -> str | None:
        """Why torch_xla cannot be used in it, as a clause; None: it can."""
        torch_xla = self.packages.get("torch-xla")
        if torch_xla is None or self.torch is None:
            return f"the environment {self.name!r} has no torch_xla"
        if self.torch.split(".")[:2] != torch_xla.split(".")[:2]:
            return (
                f"the environment {self.name!r} has torch_xla {torch_xla}, which was built for "
                f"another torch than its {self.torch}, and cannot be loaded"
            )
        return None


def todays_facts() -> EnvironmentFacts:
    """Return what the environment that launches is."""
    return EnvironmentFacts(
        name=TODAY,
        python=sys.executable,
        version=".".join(map(str, sys.version_info[:3])),
        packages=installed_packages(sys.path),
    )


def environment_facts(name: str | None) -> EnvironmentFacts:
    """Return what an environment is.

    Args:
        name: Its name; None or ``today``: the one that launches.

    Raises:
        PythonEnvironmentError: There is none of that name, or it cannot run a job.
    """
    if name is None or name == TODAY:
        return todays_facts()
    environment = find_environment(name)
    try:
        return _asked(environment, _stamp(environment.python))
    except OSError as error:
        raise PythonEnvironmentError(
            f"The interpreter {environment.python!r} of the environment {name!r} cannot be "
            f"started ({error.strerror}). {remedy(environment)}"
        ) from error


def remedy(environment: PythonEnvironment) -> str:
    """Return how an environment that is gone or damaged comes back, as a sentence."""
    again = (
        f"'smtc-lab environment add {environment.name} FOLDER'"
        if environment.made_from is None
        else f"'smtc-lab environment make {environment.name}'"
    )
    return (
        f"Remove it with 'smtc-lab environment remove {environment.name}', and bring it back "
        f"with {again}."
    )


def _stamp(python: str) -> tuple[int, ...]:
    """Return what changes when packages of an interpreter's prefix come or go.

    Raises:
        OSError: There is no such interpreter.
    """
    folders = Path(python).parent.parent.glob("lib/python3*/site-packages")
    times = (path.stat().st_mtime_ns for path in sorted(folders))
    return (os.stat(python).st_mtime_ns, *times)  # noqa: PTH116  one call for a path as text


@functools.lru_cache(maxsize=64)
def _asked(environment: PythonEnvironment, stamp: tuple[int, ...]) -> EnvironmentFacts:
    del stamp  # only tells whether an earlier answer still holds
    name, python = environment.name, environment.python
    try:
        ended = subprocess.run(  # noqa: S603  an interpreter that the user has named
            [python, str(packages_file.__file__), *NEEDED],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
        told = json.loads(ended.stdout)
        version = tuple(told["version"])
        facts = EnvironmentFacts(
            name=name, python=python, version=told["python"], packages=dict(told["packages"])
        )
    except (ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        said = getattr(error, "stderr", None) or ended.stderr if "ended" in locals() else ""
        last = str(said).strip().splitlines()[-1:] or [type(error).__name__]
        raise PythonEnvironmentError(
            f"{python!r} of the environment {name!r} does not answer as a Python does "
            f"({last[0][:_MOST_CHARACTERS]}). {remedy(environment)}"
        ) from error
    if version < OLDEST_PYTHON or told["implementation"] != "CPython":
        raise PythonEnvironmentError(
            f"The environment {name!r} has {told['implementation']} {facts.version}, but a job "
            "needs CPython 3.11 or newer. Name an environment with such a Python."
        )
    if missing := told["missing"]:
        wanted = " ".join(f"'{NEEDED[module]}'" for module in missing)
        install = f"{python} -m pip install"
        if "pip" not in facts.packages:
            install = f"uv pip install --python {python}"
        raise PythonEnvironmentError(
            f"The environment {name!r} has no {', '.join(missing)}, which a job needs. Run: "
            f"{install} {wanted}"
        )
    return facts
