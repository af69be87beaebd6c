"""The agent of one instance: runs the entry point, and leaves no process behind.

Started as ``python -m smtc_lab.runtime.agent <agent.json>`` by every launcher. Its standard
input is a lifeline: when that ends (whoever holds it went away, even by SIGKILL) the instance
ends. It adopts the orphans among its descendants, so nothing escapes by daemonising. The entry
point's exit is written to ``exit.json`` before the agent ends.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import smtc_lab
from smtc_lab.errors import EntryPointError, StoreError
from smtc_lab.machine.cpu_quota import open_quota
from smtc_lab.machine.processes import (
    become_subreaper,
    descendants,
    die_with_parent,
    end_all,
    hide_behind_hosts_file,
    reap,
    signals_as_bytes,
)
from smtc_lab.machine.wakefulness import AWAKE_VARIABLE, wake_cores
from smtc_lab.runtime.agent_config import AgentConfig
from smtc_lab.runtime.instance import prepare_instance
from smtc_lab.runtime.system_sampler import SystemSampler
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.sink import open_sink
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from smtc_lab.machine.cpu_quota import CpuQuota
    from smtc_lab.store.sink import RecordSink

READY_LIMIT_S = 120.0
"""A quota applies when the entry point says that it begins to work, at the latest now."""


@dataclass(frozen=True, kw_only=True)
class InstanceExit:
    """How the entry point of an instance ended; ``exit.json``."""

    exit_code: int
    """Exit code; 128 + n when signal n ended it."""

    signal: int | None = None
    """The signal that ended it; None: it ended by itself."""

    asked_to_stop: bool = False
    """Whether it was told to stop before it ended."""

    cpu_quota_mechanism: str
    """How its CPU quota was held; ``none`` without a quota."""

    problems: list[str] = field(default_factory=list)
    """What went wrong around it: records that could not be written, say."""


class Agent:
    """Runs one instance from its begin to the death of its last process."""

    def __init__(self, config: AgentConfig) -> None:
        self._config = config
        self._folder = RunFolder(Path(config.run_folder))
        self._instance = self._folder.instance(config.host)
        self._quota: CpuQuota = open_quota(f"{self._folder.job_name}-{config.host}")
        self._events = selectors.DefaultSelector()
        self._writer: RecordSink | None = None
        self._sampler: SystemSampler | None = None
        self._problems: list[str] = []
        self._asked_to_stop = False

    def run(self) -> InstanceExit:
        """Run the entry point and return how it ended, once nothing of it is left."""
        wake = signals_as_bytes()
        ready = self._start()
        try:
            code, asked_to_stop = self._wait(wake, ready)
        finally:
            self._end()
        number = -code if code < 0 else None
        return InstanceExit(
            exit_code=code if code >= 0 else 128 - code,
            signal=number,
            asked_to_stop=asked_to_stop,
            cpu_quota_mechanism=(
                "none" if self._config.cpu_quota_cores is None else self._quota.name
            ),
            problems=self._problems,
        )

    def _start(self) -> int:
        """Start the entry point, then the sampler; return where it says that it is ready."""
        config = self._config
        environment, arguments = prepare_instance(config, self._folder)
        ready, ready_write = os.pipe2(os.O_NONBLOCK)
        os.set_inheritable(ready_write, True)
        environment["SMTC_READY_FD"] = str(ready_write)
        hosts_file = str(self._instance / "hosts")
        if not os.access(config.command[0], os.X_OK):
            raise EntryPointError(
                f"The entry point was not started: its interpreter {config.command[0]!r} is "
                "gone. Bring its environment back, or name another python_environment."
            )
        with self._folder.log_file(config.host).open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  the job's own command
                [*config.command, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[ready_write],
                preexec_fn=lambda: self._become_entry_point(hosts_file),  # noqa: PLW1509  no thread yet
            )
        os.close(ready_write)
        try:
            path = self._folder.records / f"{config.host}-system.sqlite"
            self._writer = open_sink(path)
            self._sampler = SystemSampler(self._quota, self._writer)
        except StoreError as error:
            self._problems.append(str(error))
        return ready

    def _become_entry_point(self, hosts_file: str) -> None:
        os.setsid()
        die_with_parent()
        self._quota.join()
        hide_behind_hosts_file(hosts_file)
        if (limit := self._config.memory_limit_bytes) is not None:
            # not RLIMIT_AS, which counts the libraries that are mapped: 4 GB for torch alone
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)

    def _wait(self, wake: int, ready: int) -> tuple[int, bool]:
        """Wait for the end of the entry point, or of the lifeline."""
        lifeline = sys.stdin.fileno()
        for descriptor in (wake, ready, lifeline):
            self._events.register(descriptor, selectors.EVENT_READ)
        quota_at = time.monotonic() + READY_LIMIT_S
        limited = self._config.cpu_quota_cores is None
        while True:
            timeout = None if limited else max(0.0, quota_at - time.monotonic())
            heard = {key.fd for key, _ in self._events.select(timeout)}
            if not limited and (ready in heard or time.monotonic() >= quota_at):
                limited = True
                self._limit()
            if ready in heard and not os.read(ready, 64):
                self._events.unregister(ready)
            if wake in heard and (code := self._heard_signal(wake)) is not None:
                return code, self._asked_to_stop
            if self._asked_to_stop or (lifeline in heard and not os.read(lifeline, 64)):
                self._asked_to_stop = True
                return self._stop(), True

    def _heard_signal(self, wake: int) -> int | None:
        """Return the entry point's exit code when it has ended."""
        numbers = os.read(wake, 4096)
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._asked_to_stop = True
        for pid, code in reap():
            if pid == self._process.pid:
                return code
        return None

    def _limit(self) -> None:
        cores = self._config.cpu_quota_cores
        if cores is None:
            return
        try:
            self._quota.limit(cores)
        except OSError as error:
            self._problems.append(
                f"The CPU quota of {cores:.3f} cores could not be set on {self._config.host} "
                f"through {self._quota.name}: {error}. Set SMTC_CPU_QUOTA=duty-cycle."
            )
            return
        if awake := os.environ.get(AWAKE_VARIABLE):
            wake_cores(int(awake))
        if self._sampler is not None:
            self._sampler.quota_applies(cores)

    def _stop(self) -> int:
        """End the entry point in good order; return its exit code."""
        codes: dict[int, int] = {}

        def members() -> list[int]:
            codes.update(reap())
            return descendants(os.getpid())

        end_all(members, grace_s=self._config.grace_s)
        codes.update(reap())
        return codes.get(self._process.pid, -signal.SIGKILL)

    def _end(self) -> None:
        """End what the entry point left behind, and close what the agent holds."""

        def members() -> list[int]:
            reap()
            return descendants(os.getpid())

        end_all(members, grace_s=0.0)
        if self._sampler is not None:
            self._sampler.close()
        self._quota.close()
        if self._writer is not None:
            try:
                self._writer.close()
            except StoreError as error:
                self._problems.append(str(error))


def main(path: str) -> int:
    """Run the agent that a file describes; return the entry point's exit code."""
    become_subreaper()
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    folder, host = RunFolder(Path(values["run_folder"])), values["host"]
    try:
        _check_version(values.get("package_version"))
        outcome = Agent(AgentConfig(**values)).run()
    except EntryPointError as error:
        outcome = InstanceExit(exit_code=1, cpu_quota_mechanism="none", problems=[str(error)])
    except Exception as error:  # noqa: BLE001  the only one who knows why must say it
        traceback.print_exc()
        problem = f"The agent of {host} failed: {type(error).__name__}: {error}."
        outcome = InstanceExit(exit_code=1, cpu_quota_mechanism="none", problems=[problem])
    text = json.dumps(asdict(outcome))
    try:
        replace_file(folder.instance(host) / "exit.json", text)
    except OSError:
        folder.ballast.unlink(missing_ok=True)
        replace_file(folder.instance(host) / "exit.json", text)
    return outcome.exit_code


def _check_version(launching: str | None) -> None:
    """Refuse what another version of this package wrote: it may mean something else."""
    if launching not in {None, smtc_lab.__version__}:
        raise EntryPointError(
            f"This instance has smtc_lab {smtc_lab.__version__}, but {launching} launched it. "
            "Install the same version on all machines of the job."
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
