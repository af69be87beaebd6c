"""One process of an instance, a trainer or what serves trainers; its agent's child."""

from __future__ import annotations

import math
import os
import re
import resource
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from smtc_lab.instance.context import DONE_WORD, LAST_STEP_WORD
from smtc_lab.instance.forking import close_but_for
from smtc_lab.instance.hyperparameters import user_args
from smtc_lab.instance.plan import LEAVE_S
from smtc_lab.instance.prepare import process_environment
from smtc_lab.instance.variables import FAILED_WORD, READY_VARIABLE, STORE_FD_VARIABLE
from smtc_lab.machine.processes import die_with_parent, hide_behind_hosts_file
from smtc_lab.machine.quota.members import MEMBERS_VARIABLE, QUOTA_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.instance.description import InstanceDescription, Trainer
    from smtc_lab.machine.quota.cpu_quota import CpuQuota
    from smtc_lab.store.run_folder import RunFolder


WENT_ON = (
    f"The script went on for {LEAVE_S:.0f} s after the job's last step, and was "
    "ended. All steps count; what it was still doing does not."
)
"""What people are told of one that was ended then."""

_FAILED = re.compile(rb"%b ([0-9]+) ([0-9]+)\n" % FAILED_WORD.encode())

_NO_VICTIM = {-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGBUS}
_SEEN_LATE_S = 1.0


class EntryPoint:
    """One process of an instance that is prepared.

    Args:
        told: What the instance is told.
        folder: The run's folder.
        quota: What holds the CPU time of all processes of the instance.
        trainer: The trainer that it is; None: the instance has none, and serves others'.
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
        self.last_step_s: float | None = None
        """When it had taken the job's last step, by the monotonic clock; None: it has not. How
        it ends does not count from then on."""
        self._told = told
        self._quota = quota
        self._hosts_file = str(folder.instance(told.host) / "hosts")
        self.pid: int | None = None
        """Number of the process; None: it was not started, or its number is not known yet."""
        self._environment = process_environment(told, folder, trainer)
        self._log = folder.log_file(told.host, self.rank)
        self.ready, self._ready_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        """Readable when the script says that its work begins, or has ended."""
        if told.passes_outside_quota:
            self._environment[MEMBERS_VARIABLE] = os.pathsep.join(map(str, quota.member_files))
            self._environment[QUOTA_VARIABLE] = str(told.cpu_quota_cores or "")
        self._environment[READY_VARIABLE] = str(self._ready_write)
        self.descriptors = [self._ready_write]
        """What the process inherits."""
        if store_fd is not None:
            self._environment[STORE_FD_VARIABLE] = str(store_fd)
            self.descriptors.append(store_fd)

    def start(
        self, command: Sequence[str] | None = None, descriptors: Sequence[int] = ()
    ) -> subprocess.Popen[bytes]:
        """Start the process.

        Args:
            command: What to start in its place, and with its log; None: the job's command.
            descriptors: What that inherits besides.

        Raises:
            OSError: It cannot be started.
        """
        told = self._told
        with self._log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  the job's own command
                [*(command or told.command), *user_args(told.hyperparameters), *told.arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[*self.descriptors, *descriptors],
                preexec_fn=self._become_entry_point,  # noqa: PLW1509  no thread yet
            )
        if command is None:
            self.pid, self._process = process.pid, process
        return process

    def fork(self, run: Callable[..., NoReturn]) -> None:
        """Fork the process from this one, which has imported what it needs.

        Args:
            run: What runs a script there, as ``starting.ahead.run_forked`` does.
        """
        told = self._told
        pid = os.fork()
        if pid:
            self.pid = pid
            return
        try:
            signal.set_wakeup_fd(-1)
            self._become_entry_point()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            close_but_for({0, 1, 2, *self.descriptors})
            script, arguments = told.command[-1], user_args(told.hyperparameters)
            run(
                script,
                [*arguments, *told.arguments],
                environment=self._environment,
                log=str(self._log),
            )
        finally:
            os._exit(1)

    def is_handed_over(self) -> None:
        """Close what only the process keeps open; after it, or what forks it, was started."""
        os.close(self._ready_write)

    def given(self) -> dict[str, Any]:
        """Return what a process needs in order to become this one (``forked_trainers``)."""
        return {
            "environment": self._environment,
            "log": str(self._log),
            "descriptors": self.descriptors,
        }

    def hear(self, said: bytes) -> None:
        """Take in what its script says through ``ready``."""
        self.is_done |= DONE_WORD in said
        if self.last_step_s is not None:
            return
        said, last_step, _ = said.partition(LAST_STEP_WORD)
        if failed := _FAILED.search(said):
            self.failed_s, self._said_code = int(failed[1]) / 1e9, int(failed[2])
        elif last_step and not self.has_said_why:
            self.last_step_s = time.monotonic()

    def ended(self, exit_code: int, *, was_asked: bool) -> None:
        """Take note of its end, which was asked for or not."""
        with suppress(BlockingIOError):  # it has said nothing since
            self.hear(os.read(self.ready, 256))
        if self.last_step_s is not None:
            exit_code = 0
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
        if not self._told.passes_outside_quota:
            self._quota.join()
        hide_behind_hosts_file(self._hosts_file)
        if (limit := self._told.memory_limit_bytes) is not None:
            # not RLIMIT_AS, which counts the libraries that are mapped: 4 GB for torch alone
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)


def over_at(entry_points: Sequence[EntryPoint]) -> float | None:
    """Return when those are ended that go on after the job's last step, by the monotonic clock.

    None: they are not, since one that runs has not taken it.
    """
    running = [each for each in entry_points if each.exit_code is None]
    if not running or any(each.last_step_s is None for each in running):
        return None
    return max(each.last_step_s or 0.0 for each in entry_points) + LEAVE_S
