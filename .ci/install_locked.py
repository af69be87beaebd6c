"""Installs a lock into a virtual environment, with a torch that suits this machine.

``make`` runs this file before anything is installed, so it needs nothing but Python itself. On
PyPI, torch for Linux is the CUDA build, ten times the size of the CPU build. Without an NVIDIA
GPU the CPU build comes instead, where a package index that this machine is set up for carries
one; else it is said at once what the other one takes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST_TORCH = (2, 9)
"""The oldest torch that smtc_lab runs with."""

_CUDA_SIZE = "about 3 GB to download and 6.6 GB installed: 4 minutes at 100 Mbit/s"
_OF_CUDA = re.compile(
    r"(?:torch|torchvision|triton|nvidia-(?!ml-py)[a-z0-9-]+|cuda-[a-z0-9-]+)=="
)
_WANTED = re.compile(r"torch==(?P<torch>[\d.]+)|torchvision==(?P<torchvision>[\d.]+)")


def has_nvidia_gpu() -> bool:
    """Return whether the driver of an NVIDIA GPU is loaded here."""
    return any(Path(path).exists() for path in ("/proc/driver/nvidia/gpus", "/dev/nvidiactl"))


def without_cuda(lock: str) -> str:
    """Return a lock without torch, and without what only a CUDA build of it needs."""
    entries = re.split(r"\n(?=[a-zA-Z])", lock)
    return "\n".join(entry for entry in entries if not _OF_CUDA.match(entry)) + "\n"


def locked_versions(lock: str) -> dict[str, str]:
    """Return the versions of torch and torchvision in a lock, by name."""
    found: dict[str, str] = {}
    for match in _WANTED.finditer(lock):
        found |= {name: version for name, version in match.groupdict().items() if version}
    return found


def newest_cpu_build(versions: str, *, newest: str) -> str | None:
    """Return the newest CPU build among versions, neither too old nor newer than the lock's.

    Args:
        versions: What ``pip index versions torch`` prints.
        newest: torch's version in the lock.
    """
    builds = {
        tuple(map(int, text.split("."))): f"{text}+cpu"
        for text in re.findall(r"(\d+\.\d+\.\d+)\+cpu", versions)
    }
    fitting = [
        numbers
        for numbers in builds
        if numbers[:2] >= OLDEST_TORCH and numbers <= tuple(map(int, newest.split(".")))
    ]
    return builds[max(fitting)] if fitting else None


class Installer:
    """Installs a lock into the virtual environment of an interpreter."""

    def __init__(self, python: Path, lock: Path) -> None:
        self._python = python
        self._uv = python.with_name("uv")
        self._lock = lock.read_text(encoding="utf-8")
        self._lock_file = lock

    def install(self, torch: str) -> None:
        """Install every package of the lock.

        Args:
            torch: ``newest``, ``cpu``, or ``auto``: ``cpu`` where there is no NVIDIA GPU and an
                index carries one.

        Raises:
            SystemExit: A CPU build is asked for, and no index carries one.
            subprocess.CalledProcessError: An installation failed; it has said why.
        """
        versions = locked_versions(self._lock)
        if torch == "newest" or (torch == "auto" and has_nvidia_gpu()):
            say(f"torch {versions['torch']} for CUDA comes, as the lock has it: {_CUDA_SIZE}.")
            return self._sync(self._lock_file)
        wanted = [f"{name}=={version}" for name, version in versions.items()]
        if self._torch_index_has(wanted):
            self._sync_without_cuda()
            return self._uv_pip("install", "--torch-backend", "cpu", "--no-deps", *wanted)
        build = newest_cpu_build(self._carried(), newest=versions["torch"])
        if build is not None:
            say(
                f"torch {build}: the newest CPU build that this machine's package indexes "
                f"carry. Without torchvision, whose networks are left out. TORCH=newest takes "
                f"{versions['torch']} for CUDA."
            )
            self._sync_without_cuda()
            return self._pip("install", "--quiet", "--no-deps", f"torch=={build}")
        if torch == "cpu":
            raise SystemExit(
                "No package index of this machine carries a CPU build of torch "
                f"{'.'.join(map(str, OLDEST_TORCH))} or newer. Set one up for pip, or use "
                "TORCH=newest."
            )
        say(
            f"torch {versions['torch']} for CUDA comes, since no package index of this machine "
            f"carries a CPU build: {_CUDA_SIZE}."
        )
        return self._sync(self._lock_file)

    def _torch_index_has(self, wanted: list[str]) -> bool:
        """Return whether PyTorch's own index, which uv knows, can be reached and has them."""
        asked = [self._uv, "pip", "install", "--dry-run", "--no-deps", "--torch-backend", "cpu"]
        ended = subprocess.run(  # noqa: S603  our own arguments
            [*map(str, asked), "--python", str(self._python), *wanted],
            capture_output=True,
            check=False,
            env={"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "15", **os.environ},
        )
        return ended.returncode == 0

    def _carried(self) -> str:
        """Return what pip says of torch in the indexes that it is set up for."""
        ended = subprocess.run(  # noqa: S603  our own arguments
            [str(self._python), "-m", "pip", "index", "versions", "torch"],
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.stdout

    def _sync_without_cuda(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lock = Path(folder) / "lock.txt"
            lock.write_text(without_cuda(self._lock), encoding="utf-8")
            self._sync(lock)

    def _sync(self, lock: Path) -> None:
        self._uv_pip("sync", "--require-hashes", "--compile-bytecode", str(lock))

    def _uv_pip(self, *arguments: str) -> None:
        command = [str(self._uv), "pip", arguments[0], "--quiet", "--python", str(self._python)]
        subprocess.run([*command, *arguments[1:]], check=True)  # noqa: S603  our own arguments

    def _pip(self, *arguments: str) -> None:
        subprocess.run([str(self._python), "-m", "pip", *arguments], check=True)  # noqa: S603  our own arguments


def say(text: str) -> None:
    """Tell the user what is being installed."""
    print(text, flush=True)  # noqa: T201  this is a command


def main() -> None:
    """Install the lock that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="interpreter of the virtual environment")
    parser.add_argument("lock", type=Path, help="requirements file with hashes")
    parser.add_argument("--torch", choices=["auto", "cpu", "newest"], default="auto")
    given = parser.parse_args()
    try:
        Installer(given.python, given.lock).install(given.torch)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
