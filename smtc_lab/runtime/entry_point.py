"""One process of an instance that runs the job's script; its agent's child."""

from __future__ import annotations

import ipaddress
import math
import os
import re
import resource
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.context import DONE_WORD
from smtc_lab.instance.hyperparameters import user_args
from smtc_lab.instance.prepare import process_environment
from smtc_lab.instance.variables import FAILED_WORD, READY_VARIABLE, STORE_FD_VARIABLE
from smtc_lab.machine.processes import die_with_parent, hide_behind_hosts_file

if TYPE_CHECKING:
    from smtc_lab.instance.description import InstanceDescription, Trainer
    from smtc_lab.machine.cpu_quota import CpuQuota
    from smtc_lab.store.run_folder import RunFolder


_FAILED = re.compile(rb"%b ([0-9]+) ([0-9]+)\n" % FAILED_WORD.encode())

_NO_VICTIM = {-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGBUS}
_SEEN_LATE_S = 1.0


class EntryPoint:
    """Starts one process of an instance that is prepared.

    Args:
        told: What the instance is told.
        folder: The run's folder.
        quota: What holds the CPU time of all processes of the instance.
        trainer: The trainer that it is; None: the instance has none, and runs the script once.
        store_fd: Socket on which it serves the trainers' store; None: it does not.
    """

    def __init__(
        self,
        told: InstanceDescription,
        folder: RunFolder,
        quota: CpuQuota,
        trainer: Trainer | None,
        store_fd: int | None = None,
    ) -> None:
        self.rank = None if trainer is None or len(told.trainers) == 1 else trainer.rank
        """Which of several trainers it is; None: the instance has no other process."""
        self.exit_code: int | None = None
        """Exit code as ``subprocess`` writes it; None: it runs."""
        self.failed_s: float | None = None
        """When it failed by itself, by the monotonic clock; None: it did not."""
        self._said_code: int | None = None
        self.is_done = False
        """Whether it takes no further step."""
        self._told = told
        self._quota = quota
        self._hosts_file = str(folder.instance(told.host) / "hosts")
        environment = process_environment(told, folder, trainer)
        self.ready, ready_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        """Readable when the script says that its work begins, or has ended."""
        try:
            environment[READY_VARIABLE] = str(ready_write)
            passed = [ready_write]
            if store_fd is not None:
                environment[STORE_FD_VARIABLE] = str(store_fd)
                passed.append(store_fd)
            with folder.log_file(told.host, self.rank).open("ab") as log:
                self._process = subprocess.Popen(  # noqa: S603  the job's own command
                    [*told.command, *user_args(told.hyperparameters), *told.arguments],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=passed,
                    preexec_fn=self._become_entry_point,  # noqa: PLW1509  no thread yet
                )
        finally:
            os.close(ready_write)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def hear(self, said: bytes) -> None:
        """Take in what its script says through ``ready``."""
        self.is_done |= DONE_WORD in said
        if failed := _FAILED.search(said):
            self.failed_s, self._said_code = int(failed[1]) / 1e9, int(failed[2])

    def ended(self, exit_code: int, *, was_asked: bool) -> None:
        """Take note of its end, which was asked for or not."""
        self.exit_code = exit_code
        if exit_code and self.failed_s is None and not was_asked:
            self.failed_s = time.monotonic()

    @property
    def has_said_why(self) -> bool:
        """Whether its script told of its failure itself."""
        return self._said_code is not None

    @property
    def blamed_s(self) -> float:
        """When it failed, for the order of blame.

        What the kernel kills is seen late, and the others fail over it soon. One that said
        that it fails, and was killed while it left, did so when it said it.
        """
        failed_s = math.inf if self.failed_s is None else self.failed_s
        is_seen_late = self.exit_code in _NO_VICTIM and not self.has_said_why
        return failed_s - _SEEN_LATE_S if is_seen_late else failed_s

    @property
    def decisive_code(self) -> int:
        """Exit code; of one that was ended while it left, the one that it left with."""
        code = self.exit_code or 0
        return self._said_code if self._said_code is not None and code < 0 else code

    def _become_entry_point(self) -> None:
        os.setsid()
        die_with_parent()
        self._quota.join()
        hide_behind_hosts_file(self._hosts_file)
        if (limit := self._told.memory_limit_bytes) is not None:
            # not RLIMIT_AS, which counts the libraries that are mapped: 4 GB for torch alone
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)


def entry_points(
    told: InstanceDescription, folder: RunFolder, quota: CpuQuota
) -> list[EntryPoint]:
    """Start the script once for each trainer of an instance, and once where it has none.

    Raises:
        OSError: It cannot be started.
        EntryPointError: The port at which the trainers meet is taken.
    """
    bound = bound_store(told)
    try:
        return [
            EntryPoint(told, folder, quota, trainer, _store_fd(trainer, bound))
            for trainer in told.trainers or (None,)
        ]
    finally:
        if bound is not None:
            bound.close()


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
