"""Starts the entry points of an instance: one process each, or all of them forked from one."""

from __future__ import annotations

import ipaddress
import socket
import sys
from typing import TYPE_CHECKING

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.forking import Forker, can_be_forked
from smtc_lab.runtime.entry_point import EntryPoint
from smtc_lab.runtime.starting.ahead import run_forked

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from smtc_lab.instance.description import InstanceDescription, Trainer
    from smtc_lab.machine.quota.cpu_quota import CpuQuota
    from smtc_lab.store.run_folder import RunFolder


class EntryPoints:
    """The entry points of an instance, started.

    Raises:
        OSError: They cannot be started.
        EntryPointError: The port at which the trainers meet is taken.
    """

    def __init__(self, told: InstanceDescription, folder: RunFolder, quota: CpuQuota) -> None:
        bound = bound_store(told)
        self._forker: Forker | None = None
        try:
            self.all = [
                EntryPoint(told, folder, quota, trainer, _store_fd(trainer, bound))
                for trainer in told.trainers or (None,)
            ]
            """One for each trainer; one alone where the instance has none."""
            try:
                if _has_torch_ahead(told):
                    for each in self.all:
                        each.fork(run_forked)
                elif _are_forked(told):
                    self._forker = _fork_trainers(told, self.all)
                else:
                    for each in self.all:
                        each.start()
            finally:
                for each in self.all:
                    each.is_handed_over()
        finally:
            if bound is not None:
                bound.close()

    def collect(self, codes: Mapping[int, int], *, was_asked: bool) -> None:
        """Take note of those that have ended.

        Args:
            codes: Exit codes of processes that have ended since the last call.
            was_asked: Whether they were asked to end.
        """
        if (forker := self._forker) is not None:
            codes = forker.collect(codes)
            if forker.numbers is not None:
                for each, number in zip(self.all, forker.numbers, strict=True):
                    each.pid = number
                self._forker = None
        for each in self.all:
            if each.exit_code is None and each.pid is not None and each.pid in codes:
                each.ended(codes[each.pid], was_asked=was_asked)
        if forker is not None and forker.failed_with is not None:
            for each in self.all:
                each.ended(forker.failed_with, was_asked=was_asked)
            self._forker = None


def _fork_trainers(told: InstanceDescription, entry_points: list[EntryPoint]) -> Forker:
    """Start what imports torch once and forks all trainers (``forked_trainers``)."""
    first = entry_points[0]
    python, _, _, script = told.command
    passed = {number for each in entry_points for number in each.descriptors}

    def start(given: str, needed: list[int]) -> subprocess.Popen[bytes]:
        return first.start(
            [python, "-m", "smtc_lab.runtime.starting.forked_trainers", given, script],
            [*passed - set(first.descriptors), *needed],
        )

    return Forker({"trainers": [each.given() for each in entry_points]}, start)


def _has_torch_ahead(told: InstanceDescription) -> bool:
    """Return whether this process has imported what the entry points would (``ahead``)."""
    return "torch" in sys.modules and can_be_forked(told) and told.command[0] == sys.executable


def _are_forked(told: InstanceDescription) -> bool:
    """Return whether a process of its own forks the trainers."""
    return len(told.trainers) > 1 and can_be_forked(told)


def _store_fd(trainer: Trainer | None, bound: socket.socket | None) -> int | None:
    return None if trainer is None or trainer.rank or bound is None else bound.fileno()


def bound_store(told: InstanceDescription) -> socket.socket | None:
    """Return a socket on the own address at which rank 0 can serve; None: nobody needs one.

    Raises:
        EntryPointError: Its port is taken.
    """
    found = told.rendezvous
    if found is None or found.in_folder or found.world_size == 1 or told.trainers[0].rank:
        return None
    is_6 = ipaddress.ip_address(told.address).version == 6
    bound = socket.socket(socket.AF_INET6 if is_6 else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((told.address, found.port))
    except OSError as error:
        bound.close()
        raise EntryPointError(
            f"Port {found.port} of {told.address}, where the trainers meet, cannot be had "
            f"({error.strerror}). End what uses it, or give the job another name: its port "
            "follows from that."
        ) from error
    return bound
