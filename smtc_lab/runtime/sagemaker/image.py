"""What the image of a SageMaker container has, and what it is given."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.instance.plan import runs_script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def install_requirements(path: Path) -> None:
    """Install what the user's script needs, as SageMaker's own images do.

    Raises:
        LauncherError: pip failed.
    """
    if not path.is_file():
        return
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    code = subprocess.run([*command, "-r", str(path)], check=False).returncode  # noqa: S603  the user's own file
    if code != 0:
        raise LauncherError(
            f"pip could not install requirements.txt (exit code {code}). Look at the log; an "
            "instance without a way out of its network needs an image that has it all."
        )


def refuse_lacking_image(facts: Mapping[str, Any]) -> None:
    """Say which package the image lacks, before anything has begun.

    Raises:
        LauncherError: The image lacks one.
    """
    needed = {}
    instances = facts["instances"]
    if any(each["role"] == "data" and not runs_script(each) for each in instances):
        needed["cryptography"] = "encrypts batches between instances"
        why = "sends dataloaders to data instances"
        needed |= dict.fromkeys(("cloudpickle", "xxhash"), why)
    if facts["job"].get("compiler_config") is not None:
        needed |= dict.fromkeys(("pydantic", "psutil"), "the training compiler uses")
    for package, why in needed.items():
        if not _has(package):
            raise LauncherError(
                f"The image has no package {package!r}, which {why}. Put a requirements.txt "
                f"with {package} beside the entry point, or choose another image."
            )


def _has(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # what looks for packages may also say it so
        return False
