"""A fresh environment with our built wheel, and all else from the one it is run in.

Installing torch and JupyterLab anew takes minutes and tests nothing of ours. So the environment
sees the packages of this one behind its own, but not this source tree.
"""

from __future__ import annotations

import json
import shutil
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
    (data,) = site.glob("smtc_lab-*.data/data")
    shutil.copytree(data, folder, dirs_exist_ok=True)
    # a line of a .pth file; the .pth files of that folder (our editable install) do not count
    (site / "rest.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    # what cells of tests make their examples with; it imports the wheel's package
    (site / "tests").mkdir()
    (site / "tests" / "kit").symlink_to(ROOT / "tests" / "kit")
    _link_jupyter(folder)
    python = folder / "bin" / "python"
    subprocess.run(
        [python, "-m", "ipykernel", "install", "--sys-prefix"], check=True, capture_output=True
    )
    return python


def _link_jupyter(folder: Path) -> None:
    """Show JupyterLab and its extensions in the new environment, with no news."""
    lab = Path("share", "jupyter", "lab")
    _link_children(lab, folder, but="settings")
    settings = folder / lab / "settings"
    settings.mkdir()
    (settings / "overrides.json").write_text(json.dumps(_OVERRIDES), encoding="utf-8")
    # ours is not that of this environment, but that of the wheel
    _link_children(Path("share", "jupyter", "labextensions"), folder, but="@smtc-lab")
    _link_children(Path("share", "jupyter", "nbextensions"), folder)
    # what switches server extensions on, Notebook 7's among them
    config = Path("etc", "jupyter", "jupyter_server_config.d")
    _link_children(config, folder, but="smtc_lab.json")
    _link_children(Path("etc", "jupyter"), folder, but=config.name)


def _link_children(path: Path, folder: Path, *, but: str = "") -> None:
    """Link what lies in a folder of this environment into that of the new one."""
    source = Path(sys.prefix) / path
    (folder / path).mkdir(parents=True, exist_ok=True)
    for child in source.iterdir() if source.is_dir() else ():
        if child.name != but:
            (folder / path / child.name).symlink_to(child)
