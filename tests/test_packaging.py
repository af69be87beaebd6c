"""What is shipped: a wheel and an sdist that need neither node nor network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILT = {"widget.js", "widget.css", "third-party-notices.txt", "sources.sha256"}
STATIC = "smtc_lab/views/static/"


def build(target: str, *, source: Path, into: Path, env: dict[str, str] | None = None) -> Path:
    ended = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", into],
        cwd=source,
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (made,) = into.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", source=ROOT, into=tmp_path_factory.mktemp("sdist"))


def names_in(path: Path) -> set[str]:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist())
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_a_wheel_carries_the_built_front_end_and_not_its_sources(tmp_path: Path) -> None:
    names = names_in(build("wheel", source=ROOT, into=tmp_path))

    assert {name for name in names if name.startswith(STATIC)} == {
        f"{STATIC}{name}" for name in BUILT
    }
    assert not any(name.startswith("extensions/") for name in names)


def test_an_sdist_carries_the_built_front_end_its_sources_and_no_modules(sdist: Path) -> None:
    names = names_in(sdist)

    assert {f"{STATIC}{name}" for name in BUILT} <= names
    assert {"extensions/yarn.lock", "extensions/ui/src/widget.ts"} <= names
    assert not any("node_modules" in name or ".yarn/" in name for name in names)


def test_an_sdist_becomes_a_wheel_without_node(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    without_node = {**os.environ, "PATH": str(tmp_path)}

    wheel = build("wheel", source=source, into=tmp_path / "wheel", env=without_node)

    assert f"{STATIC}widget.js" in names_in(wheel)


def test_a_changed_source_is_not_shipped_with_an_old_front_end(
    sdist: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    changed = source / "extensions" / "ui" / "src" / "widget.ts"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    only_python = tmp_path / "bin"
    only_python.mkdir()

    # No registry is asked: yarn finds neither a package nor a network.
    ended = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "wheel"],
        cwd=source,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "YARN_ENABLE_NETWORK": "0",
            "YARN_GLOBAL_FOLDER": str(tmp_path / "yarn"),
        },
        check=False,
    )

    assert ended.returncode != 0
    assert "The front end cannot be built" in ended.stdout + ended.stderr


def test_the_notices_name_every_library_that_the_module_holds() -> None:
    notices = (ROOT / STATIC / "third-party-notices.txt").read_text(encoding="utf-8")

    assert "uPlot" in notices
    assert "MIT" in notices


def test_no_lock_file_names_a_registry() -> None:
    for name in ("constraints.txt", "extensions/yarn.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")

        assert re.findall(r"https?://\S+", text) == [], name


def test_the_built_module_names_no_place_of_the_machine_that_built_it() -> None:
    module = (ROOT / STATIC / "widget.js").read_text(encoding="utf-8")

    assert str(ROOT) not in module
    assert shutil.which("node") is None or "sourceMappingURL" not in module
