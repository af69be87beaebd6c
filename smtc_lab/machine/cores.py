"""What this machine is, and how much of it this process may use."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from smtc_lab.machine.quota.cgroups import own_limit_cores

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every process
    from collections.abc import Mapping


_PACKAGES = (
    "smtc-lab",
    "torch",
    "torch_xla",
    "numpy",
    "scipy",
    "pydantic",
    "apsw",
    "papermill",
)


def available_cores() -> float:
    """Return the cores that this process may use: its affinity, within its own quota."""
    affinity = len(os.sched_getaffinity(0))
    limit = own_limit_cores()
    return float(affinity) if limit is None else min(float(affinity), limit)


def machine_facts() -> dict[str, object]:
    """Return what a result must name of the machine: CPU, cores, memory, kernel, Python."""
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "memory_gib": round(_memory_bytes() / 2**30, 1),
        "gpus": _gpu_names(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def versions(packages: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the versions of the packages that decide a result; those installed only.

    Args:
        packages: Version of each package of an environment, by normalized name; None: of the
            one that this process runs in.
    """
    found = {name: _version(name, packages) for name in _PACKAGES}
    return {name: version for name, version in found.items() if version is not None}


def _version(package: str, packages: Mapping[str, str] | None) -> str | None:
    # a job runs this very package, whatever its environment has
    if packages is not None and package != "smtc-lab":
        return packages.get(package.replace("_", "-"))
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cpu_model() -> str:
    """Return the name of the CPU as the kernel has it; "unknown" where it has none."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine() or "unknown"


def _gpu_names() -> list[str]:
    folder = Path("/proc/driver/nvidia/gpus")
    if not folder.is_dir():
        return []
    names = []
    for information in sorted(folder.glob("*/information")):
        lines = information.read_text(encoding="utf-8", errors="replace").splitlines()
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model")]
    return names
