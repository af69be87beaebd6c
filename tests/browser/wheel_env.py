"""A fresh environment with our built wheel, and all else from the one it is run in.

Installing torch and JupyterLab anew takes minutes and tests nothing of ours. So the environment
sees the packages of this one behind its own, but not this source tree.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
_OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
}


def built_wheel(folder: Path) -> Path:
    """Build our wheel into a folder and return it."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def wheel_environment(wheel: Path, folder: Path) -> Path:
    """Make an environment with the wheel in it, and return its python."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder], check=True, capture_output=True
    )
    site = folder / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    with zipfile.ZipFile(wheel) as archive:  # a pure wheel: its files are where they go
        archive.extractall(site)
    # a line of a .pth file; the .pth files of that folder (our editable install) do not count
    (site / "rest.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    _link_jupyter(folder / "share" / "jupyter")
    python = folder / "bin" / "python"
    subprocess.run(
        [python, "-m", "ipykernel", "install", "--sys-prefix"], check=True, capture_output=True
    )
    return python


def _link_jupyter(share: Path) -> None:
    """Show JupyterLab and its extensions in the new environment, with no news."""
    (share / "lab" / "settings").mkdir(parents=True)
    source = Path(sys.prefix) / "share" / "jupyter"
    for name in ("labextensions", "nbextensions"):
        if (source / name).is_dir():
            (share / name).symlink_to(source / name)
    for part in (source / "lab").iterdir():
        if part.name != "settings":
            (share / "lab" / part.name).symlink_to(part)
    # what switches server extensions on, Notebook 7's among them
    (share.parent.parent / "etc").symlink_to(Path(sys.prefix) / "etc")
    (share / "lab" / "settings" / "overrides.json").write_text(
        json.dumps(_OVERRIDES), encoding="utf-8"
    )
