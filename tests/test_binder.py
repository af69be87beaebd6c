"""What Binder builds: its environment, its postBuild, and the tour that it opens."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

TORCH = (
    "torch",
    "torchgen",
    "functorch",
    "nvidia",
    "triton",
    "torch-*",
    "triton-*",
    "*_cu12-*",
)


def conda_packages() -> dict[str, str]:
    text = (BINDER / "environment.yml").read_text(encoding="utf-8")
    items = yaml.safe_load(text)["dependencies"]
    found = [re.split(r"(?=[=<>])", item, maxsplit=1) for item in items]
    return {name: "".join(version) for name, *version in found}


def is_allowed(version: str, allowed: SpecifierSet) -> bool:
    return version.strip("=").removesuffix(".*") + ".0" in allowed


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is in the repository, with the front end built."""
    folder = tmp_path_factory.mktemp("source")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (archive,) = folder.iterdir()
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    (copy,) = (path for path in folder.iterdir() if path.is_dir())
    shutil.copytree(BINDER, copy / "binder", dirs_exist_ok=True)
    return copy


def run_post_build(
    source: Path, python: Path, **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [source / "binder" / "postBuild"],
        cwd=source,
        env={**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def said_by(python: Path, code: str, cwd: Path) -> list[str]:
    command = [python, "-c", code]
    done = subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_the_environment_has_a_torch_without_cuda_that_we_can_use() -> None:
    packages = conda_packages()
    needed = {Requirement(text).name: Requirement(text) for text in PROJECT["dependencies"]}

    assert is_allowed(packages["pytorch-cpu"], needed["torch"].specifier)
    assert is_allowed(packages["python"], SpecifierSet(PROJECT["requires-python"]))
    assert not {
        name for name in packages if "cuda" in name or name in {"pytorch", "pytorch-gpu"}
    }


def test_the_tour_imports_nothing_that_is_not_installed() -> None:
    needed = {Requirement(text).name for text in PROJECT["dependencies"]}
    cells = json.loads((ROOT / "notebooks" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")

    modules = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE))

    assert modules <= needed | {"smtc_lab"}


def test_post_build_installs_our_wheel_and_leaves_what_is_there(
    source: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "environment", symlinks=True)
    python = tmp_path / "environment" / "bin" / "python"
    # what environment.yml installs, and what pip would fetch: the packages of this environment
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(said_by(python, code, tmp_path)[0])
    (site / "rest.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    (source / "extensions" / "node_modules").mkdir(exist_ok=True)

    ended = run_post_build(
        source,
        python,
        PIP_NO_INDEX="1",
        PIP_NO_DEPS="1",
        PIP_FORCE_REINSTALL="1",
        PIP_NO_BUILD_ISOLATION="0",  # pip's own word for "without isolation"
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    where = "import smtc_lab, torch; print(smtc_lab.__file__); print(torch.__file__)"
    ours, torch = said_by(python, where, tmp_path)
    assert Path(ours).is_relative_to(site)
    assert not Path(torch).is_relative_to(site)
    share = tmp_path / "environment" / "share" / "jupyter"
    overrides = json.loads((share / "lab" / "settings" / "overrides.json").read_bytes())
    news = overrides["@jupyterlab/apputils-extension:notification"]
    assert news == {"fetchNews": "false", "checkForUpdates": False}
    assert not (source / "extensions" / "node_modules").exists()


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_clean_environment_gets_all_that_the_tour_needs(source: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "environment", symlinks=True, with_pip=True)
    python = tmp_path / "environment" / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(said_by(python, code, tmp_path)[0])
    # conda's torch cannot be had here, and pip's takes 7 GB: the one of this environment
    here = Path(sysconfig.get_path("purelib"))
    for path in (found for pattern in TORCH for found in here.glob(pattern)):
        (site / path.name).symlink_to(path)
    subprocess.run([python, "-m", "pip", "install", "scikit-learn>=1.5"], check=True)

    ended = run_post_build(source, python)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    words = ["steps=4", "rounds=1", "compiled_steps=4", "cell_steps=3", "backends=eager,auto"]
    parameters = [part for word in words for part in ("-p", *word.split("=", 1))]
    run = ["papermill", source / "notebooks" / "tour.ipynb", tmp_path / "out.ipynb"]
    no_rights = {"SMTC_CPU_QUOTA": "duty-cycle", "CUDA_VISIBLE_DEVICES": ""}
    subprocess.run(
        [python, "-m", *run, "--cwd", tmp_path, "-k", "python3", *parameters],
        env={**os.environ, **no_rights, "SMTC_LAB_HOME": str(tmp_path / "home")},
        check=True,
    )


def test_a_post_build_that_fails_stops_binder(source: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(source / "binder", broken / "binder")

    ended = run_post_build(broken, Path(sys.executable), PIP_NO_INDEX="1")

    assert ended.returncode != 0
