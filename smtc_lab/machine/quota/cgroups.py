"""CPU quota through control groups, version 2 and version 1."""

from __future__ import annotations

import os
from pathlib import Path

from smtc_lab.machine.quota.throttling import Throttling

CGROUP_PREFIX = "smtc-"
"""How the names of all our groups begin, so that left-over ones can be found."""

_MOUNT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000
_LEAST_QUOTA_US = 1_000
# A group competes as one task against all others, so it gets the weight of ten. All groups get
# the same: their quotas hold them apart, and a trainer that is mostly idle must not wait for a
# data instance that shares its cores only in this scale model.
_SHARES = 10_240
_WEIGHT = 1_000
_LONGEST_PERIOD_US = 1_000_000


class CgroupV2:
    """``cpu.max`` of the unified hierarchy, below this process's own group."""

    name = "cgroup-v2"

    def __init__(self, tree_name: str) -> None:
        parent = _MOUNT / _own_group("").lstrip("/")
        if "cpu" not in (parent / "cgroup.subtree_control").read_text().split():
            (parent / "cgroup.subtree_control").write_text("+cpu")
        self._period_us = _PERIOD_US
        self._group = _made(parent / f"{CGROUP_PREFIX}{tree_name}", needed="cpu.max")
        self.member_files: tuple[Path, ...] = (self._group / "cgroup.procs",)

    def join(self) -> None:
        """Put the calling process under this quota."""
        for file in self.member_files:
            write_existing(file, "0")

    def limit(self, cores: float) -> None:
        """Let the tree use at most ``cores`` cores."""
        self._period_us = period_us = _period_us(cores)
        write_existing(self._group / "cpu.max", f"{round(cores * period_us)} {period_us}")
        write_existing(self._group / "cpu.weight", str(_WEIGHT))

    def lift(self) -> None:
        """Let the tree use what it can again."""
        write_existing(self._group / "cpu.max", f"max {self._period_us}")

    def pids(self) -> list[int]:
        """Return the living processes of the tree."""
        return _pids(self._group)

    def used_s(self) -> float | None:
        """Return the CPU time used by the tree in seconds."""
        return _statistics(self._group / "cpu.stat")["usage_usec"] / 1e6

    def throttling(self) -> Throttling:
        """Return what the quota did so far."""
        numbers = _statistics(self._group / "cpu.stat")
        return Throttling(
            at_limit_s=numbers.get("nr_throttled", 0) * self._period_us / 1e6,
            held_s=numbers.get("throttled_usec", 0) / 1e6,
        )

    def close(self) -> None:
        """Remove the group; the tree has ended."""
        _removed(self._group)


class CgroupV1:
    """``cpu.cfs_quota_us`` of the cpu hierarchy, counted in the cpuacct hierarchy."""

    name = "cgroup-v1"

    def __init__(self, tree_name: str) -> None:
        group = f"{CGROUP_PREFIX}{tree_name}"
        self._period_us = _PERIOD_US
        self._cpu = _made(_hierarchy("cpu") / group, needed="cpu.cfs_quota_us")
        try:
            self._account = _made(_hierarchy("cpuacct") / group, needed="cpuacct.usage")
        except OSError:
            _removed(self._cpu)
            raise
        groups = dict.fromkeys((self._cpu, self._account))
        self.member_files: tuple[Path, ...] = tuple(group / "cgroup.procs" for group in groups)

    def join(self) -> None:
        """Put the calling process under this quota."""
        for file in self.member_files:
            write_existing(file, "0")

    def limit(self, cores: float) -> None:
        """Let the tree use at most ``cores`` cores."""
        self._period_us = period_us = _period_us(cores)
        write_existing(self._cpu / "cpu.cfs_period_us", str(period_us))
        write_existing(self._cpu / "cpu.cfs_quota_us", str(round(cores * period_us)))
        write_existing(self._cpu / "cpu.shares", str(_SHARES))

    def lift(self) -> None:
        """Let the tree use what it can again."""
        write_existing(self._cpu / "cpu.cfs_quota_us", "-1")

    def pids(self) -> list[int]:
        """Return the living processes of the tree."""
        return _pids(self._cpu)

    def used_s(self) -> float | None:
        """Return the CPU time used by the tree in seconds."""
        return int((self._account / "cpuacct.usage").read_text()) / 1e9

    def throttling(self) -> Throttling:
        """Return what the quota did so far."""
        numbers = _statistics(self._cpu / "cpu.stat")
        return Throttling(
            at_limit_s=numbers.get("nr_throttled", 0) * self._period_us / 1e6,
            held_s=numbers.get("throttled_time", 0) / 1e9,
        )

    def close(self) -> None:
        """Remove the groups; the tree has ended."""
        _removed(self._cpu)
        _removed(self._account)


def remove_leftover_groups(tree_prefix: str) -> int:
    """Remove the empty groups of trees whose name begins so; return how many there were.

    Args:
        tree_prefix: Begin of the tree's name: the run whose agents have ended.
    """
    roots = {_MOUNT / _own_group("").lstrip("/"), _MOUNT}
    for controller in ("cpu", "cpuacct"):
        try:
            roots.add(_hierarchy(controller))
        except OSError:
            continue
    pattern = f"{CGROUP_PREFIX}{tree_prefix}*"
    groups = [group for root in roots for group in root.glob(pattern) if not _pids(group)]
    for group in groups:
        _removed(group)
    return len(groups)


def own_limit_cores() -> float | None:
    """Return the CPU limit of this process's own group in cores (a container's); None: none."""
    try:
        quota, period = (_MOUNT / _own_group("").lstrip("/") / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        group = _hierarchy("cpu")
        quota_us = int((group / "cpu.cfs_quota_us").read_text())
        return (
            None if quota_us <= 0 else quota_us / int((group / "cpu.cfs_period_us").read_text())
        )
    except (OSError, ValueError):
        return None


def _period_us(cores: float) -> int:
    """Return the enforcement period: a process that stops less often computes faster."""
    return min(_LONGEST_PERIOD_US, max(_PERIOD_US, round(_LEAST_QUOTA_US / cores)))


def _own_group(controller: str) -> str:
    """Return the path of this process's group in the hierarchy of a v1 controller, or v2."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") and (controller or not controllers):
            return path
    raise FileNotFoundError(2, "no such cgroup controller", controller)


def _hierarchy(controller: str) -> Path:
    own = (_MOUNT / controller) / _own_group(controller).lstrip("/")
    return own if own.is_dir() else _MOUNT / controller


def _made(group: Path, *, needed: str) -> Path:
    if not group.parent.is_dir():
        raise FileNotFoundError(2, "no such cgroup hierarchy", str(group.parent))
    group.mkdir(exist_ok=True)
    if not (group / needed).exists():
        group.rmdir()
        raise FileNotFoundError(2, "the cgroup lacks a file", needed)
    return group


def _removed(group: Path) -> None:
    try:
        group.rmdir()
    except OSError:  # a process of the tree is still ending; the sweep takes the group
        return


def _pids(group: Path) -> list[int]:
    try:
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def _statistics(path: Path) -> dict[str, int]:
    lines = path.read_text(encoding="ascii").splitlines()
    return {name: int(value) for name, value in (line.split() for line in lines)}


def write_existing(path: Path | str, text: str) -> None:
    """Write without creating: these files exist or the mechanism does not work."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
