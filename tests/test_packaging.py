"""What is shipped: a wheel and an sdist that need neither node nor network."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILT = {
    *("widget.js", "widget.css", "stages.js", "stages.css", "share.js", "spot.js"),
    "tuning.js",
    *("run_table.js", "run_table.css", "run_comparison.js", "run_comparison.css"),
    *("third-party-notices.txt", "sources.sha256"),
}
STATIC = "smtc_lab/views/static/"
LAB_EXTENSION = "smtc_lab/views/labextension/"
SHARED = "share/jupyter/labextensions/@smtc-lab/lab/"
SWITCH = "etc/jupyter/jupyter_server_config.d/smtc_lab.json"


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


def shared_in(wheel: Path) -> set[str]:
    """Return what a wheel puts beside the packages, by its place in an environment."""
    before = f"{'-'.join(wheel.name.split('-')[:2])}.data/data/"
    return {name.removeprefix(before) for name in names_in(wheel) if name.startswith(before)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", source=ROOT, into=tmp_path_factory.mktemp("wheel"))


def test_a_wheel_carries_the_built_front_end_and_not_its_sources(wheel: Path) -> None:
    names = names_in(wheel)

    assert {name for name in names if name.startswith(STATIC)} == {
        f"{STATIC}{name}" for name in BUILT
    }
    assert not any(name.startswith(("extensions/", LAB_EXTENSION)) for name in names)


def test_a_wheel_carries_the_notebooks_and_neither_tests_nor_benchmarks(wheel: Path) -> None:
    names = names_in(wheel)
    notebooks = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    of_a_clone = ("bench_", "published_tables")

    assert {name for name in names if name.startswith("smtc_lab/notebooks/")} == {
        f"smtc_lab/notebooks/{name}" for name in notebooks if not name.startswith(of_a_clone)
    }
    assert not any(name.startswith(("tests/", "notebooks/")) for name in names)


def test_a_wheel_puts_the_lab_extension_where_jupyterlab_looks(wheel: Path) -> None:
    shared = shared_in(wheel)

    assert {SWITCH, f"{SHARED}package.json", f"{SHARED}install.json"} <= shared
    assert f"{SHARED}schemas/@smtc-lab/lab/plugin.json" in shared
    assert any(name.startswith(f"{SHARED}static/remoteEntry.") for name in shared)
    assert not any(name.endswith((".ts", ".map")) for name in shared)


def test_what_is_installed_is_found_and_goes_away_again(wheel: Path, tmp_path: Path) -> None:
    python = bare_environment(tmp_path / "environment")
    before = files_in(tmp_path / "environment")

    pip(python, "install", "--no-index", "--no-deps", wheel)
    listed = told(python, "jupyterlab.labextensions", "list")
    served = told(python, "jupyter_server.extension.serverextension", "list")
    pip(python, "uninstall", "--yes", "smtc-lab")

    assert re.search(r"@smtc-lab/lab v\S+ .*enabled.*OK.*\(python, smtc-lab\)", listed)
    assert re.search(r"smtc_lab\.views\.server .*enabled", served)
    assert re.search(r"smtc_lab\.views\.server\s.*OK", served)
    assert files_in(tmp_path / "environment") == before


def bare_environment(folder: Path) -> Path:
    """Make an environment with the packages of this one behind its own; return its python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = folder / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    # a line of a .pth file; the .pth files of that folder (our editable install) do not count
    (site / "rest.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder / "bin" / "python"


def files_in(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def pip(python: Path, *arguments: str | Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, *arguments],
        check=True,
        capture_output=True,
    )


def told(python: Path, module: str, *arguments: str) -> str:
    """Return what a command of Jupyter says, with no settings of this machine's user."""
    ended = subprocess.run(
        [python, "-m", module, *arguments],
        env={**os.environ, "HOME": str(python.parent), "JUPYTER_NO_CONFIG": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return re.sub(r"\x1b\[\d*m", "", ended.stdout)


def test_an_sdist_carries_the_built_front_end_its_sources_and_no_modules(sdist: Path) -> None:
    names = names_in(sdist)

    assert {f"{STATIC}{name}" for name in BUILT} <= names
    assert f"{LAB_EXTENSION}package.json" in names
    assert {"extensions/yarn.lock", "extensions/ui/src/widget.ts"} <= names
    assert not any("node_modules" in name or ".yarn/" in name for name in names)


def test_an_sdist_becomes_a_wheel_without_node(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    without_node = {**os.environ, "PATH": str(tmp_path)}

    wheel = build("wheel", source=source, into=tmp_path / "wheel", env=without_node)

    assert f"{STATIC}widget.js" in names_in(wheel)
    assert f"{SHARED}package.json" in shared_in(wheel)


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


def test_what_is_built_names_no_place_of_the_machine_that_built_it() -> None:
    ours = [
        ROOT / STATIC / name
        for name in ("widget.js", "spot.js", "stages.js", "share.js", "tuning.js")
    ]
    modules = [*ours, *(ROOT / LAB_EXTENSION).rglob("*.js*")]

    for module in modules:
        text = module.read_text(encoding="utf-8")
        assert str(ROOT) not in text, module
        assert shutil.which("node") is None or "//# sourceMappingURL" not in text, module


def test_little_is_loaded_before_somebody_looks_at_a_view() -> None:
    static = ROOT / LAB_EXTENSION / "static"
    (entry,) = static.glob("remoteEntry.*.js")
    text = entry.read_text(encoding="utf-8")
    exposed = re.findall(r'"\./(?:mimeE|e)xtension":\(\)=>(.*?)\.then', text)
    parts = {part for chunks in exposed for part in re.findall(r"\.e\((\d+)\)", chunks)}

    loaded = [entry, *(path for part in parts for path in static.glob(f"{part}.*.js"))]

    assert len(loaded) == 3, "the entry, the plugins, the mime renderer"
    assert sum(path.stat().st_size for path in loaded) <= 30_000


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("widget.js", 110_000),
        ("spot.js", 10_000),
        ("tuning.js", 14_000),
        ("stages.js", 8_000),
        ("run_table.js", 10_000),
        ("run_comparison.js", 45_000),
    ],
)
def test_a_widget_loads_little_beside_what_it_shows(name: str, most: int) -> None:
    module = (ROOT / STATIC / name).read_bytes()

    assert len(gzip.compress(module, mtime=0)) <= most
