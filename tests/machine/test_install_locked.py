"""Which torch this project's own environment gets; the installation itself is `make setup`."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
installing = ModuleType("install_locked")  # a file that make runs, in no package
SourceFileLoader("install_locked", str(ROOT / ".ci" / "install_locked.py")).exec_module(
    installing
)
Installer = installing.Installer
locked_versions = installing.locked_versions
newest_cpu_build = installing.newest_cpu_build
without_cuda = installing.without_cuda
LISTED = (
    "torch (2.15.0)\nAvailable versions: 2.15.0, 2.13.0+cpu, 2.13.0, 2.8.0+cpu, 2.9.1+cpu\n"
)


def test_the_newest_cpu_build_that_the_lock_would_take_is_chosen() -> None:
    assert newest_cpu_build(LISTED, newest="2.15.0") == "2.13.0+cpu"
    assert newest_cpu_build(LISTED, newest="2.12.0") == "2.9.1+cpu"
    assert newest_cpu_build("torch (2.8.0)\n2.8.0+cpu, 2.15.0", newest="2.15.0") is None
    assert newest_cpu_build("", newest="2.15.0") is None


def test_a_lock_without_cuda_keeps_everything_else() -> None:
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    left = without_cuda(lock)

    gone = set(names(lock)) - set(names(left))
    assert {"torch", "torchvision", "triton"} <= gone
    assert all(
        name in {"torch", "torchvision", "triton"} or name.startswith(("nvidia-", "cuda-"))
        for name in gone
    )
    assert "nvidia-ml-py" in names(left)
    assert left.count("--hash=") < lock.count("--hash=")


def names(lock: str) -> list[str]:
    lines = [line for line in lock.splitlines() if "==" in line and not line.startswith(" ")]
    return [line.partition("==")[0] for line in lines]


def test_the_lock_has_the_torch_that_is_looked_for() -> None:
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    assert set(locked_versions(lock)) == {"torch", "torchvision"}


class Told(Installer):
    """Installs nothing: it keeps what would be run, as no index can be had for a test."""

    def __init__(self, lock: Path, *, has_index: bool, carried: str) -> None:
        super().__init__(Path("bin/python"), lock)
        self.did: list[str] = []
        self._has_index, self._listed = has_index, carried

    def _torch_index_has(self, wanted: list[str]) -> bool:
        self.did.append(f"asked for {' '.join(wanted)}")
        return self._has_index

    def _carried(self) -> str:
        return self._listed

    def _uv_pip(self, *arguments: str) -> None:
        self.did.append(f"uv {arguments[0]} {arguments[-1]}")

    def _pip(self, *arguments: str) -> None:
        self.did.append(f"pip {arguments[0]} {arguments[-1]}")


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "lock.txt"
    path.write_text("numpy==2.0\ntorch==2.15.0\ntorchvision==0.29.2\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "has_nvidia_gpu", lambda: False)


def test_the_newest_is_the_lock_as_it_is_and_is_named(
    lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installer = Told(lock, has_index=True, carried=LISTED)

    installer.install("newest")

    assert installer.did == [f"uv sync {lock}"]
    assert "torch 2.15.0 for CUDA comes, as the lock has it: " in capsys.readouterr().out


def test_a_gpu_gets_the_lock_as_it_is(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "has_nvidia_gpu", lambda: True)
    installer = Told(lock, has_index=True, carried=LISTED)

    installer.install("auto")

    assert installer.did == [f"uv sync {lock}"]


def test_without_a_gpu_the_locked_version_comes_for_the_cpu(lock: Path) -> None:
    installer = Told(lock, has_index=True, carried=LISTED)

    installer.install("auto")

    asked, rest, torch = installer.did
    assert asked == "asked for torch==2.15.0 torchvision==0.29.2"
    assert rest.startswith("uv sync ")
    assert rest != f"uv sync {lock}"
    assert torch == "uv install torchvision==0.29.2"


def test_else_the_newest_cpu_build_comes_and_is_named(
    lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installer = Told(lock, has_index=False, carried=LISTED)

    installer.install("auto")

    assert installer.did[-1] == "pip install torch==2.13.0+cpu"
    assert "torch 2.13.0+cpu: the newest CPU build" in capsys.readouterr().out


def test_without_any_cpu_build_it_is_told_how_large_the_other_one_is(
    lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installer = Told(lock, has_index=False, carried="")

    installer.install("auto")

    assert installer.did[-1] == f"uv sync {lock}"
    said = capsys.readouterr().out
    assert "GB to download" in said
    assert "minutes" in said


def test_a_cpu_build_that_is_asked_for_is_not_replaced(lock: Path) -> None:
    installer = Told(lock, has_index=False, carried="")

    with pytest.raises(SystemExit, match=r"carries a CPU build of torch 2\.9 or newer"):
        installer.install("cpu")
