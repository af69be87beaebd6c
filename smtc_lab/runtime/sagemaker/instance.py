"""Runs one instance of a SageMaker job inside its container, around every launcher's agent.

The run folder lies on the instance's own storage; its records lie in the checkpoint folder,
which the platform copies to S3 while the job runs. What the entry point prints and records also
goes to the container's log, from where the launching machine mirrors it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.instance.instance_exit import InstanceExit
from smtc_lab.instance.plan import LEAVE_S, log_ranks, planned_ranks, runs_script
from smtc_lab.instance.resource_config import (
    BASE_FOLDER_VARIABLE,
    CONFIG_FILE,
    DEFAULT_BASE_FOLDER,
    read_resource_config,
)
from smtc_lab.instance.variables import ATTEMPT_VARIABLE, RUN_VARIABLE
from smtc_lab.machine.processes import (
    become_subreaper,
    end_below,
    reap,
    signals_as_bytes,
)
from smtc_lab.metrics.records.lines import line_key
from smtc_lab.runtime.sagemaker.agent import InstancePlace, filled_in
from smtc_lab.runtime.sagemaker.done import DoneListener, tell_done
from smtc_lab.runtime.sagemaker.hosts import platform_hosts, resolve
from smtc_lab.runtime.sagemaker.image import install_requirements, refuse_lacking_image
from smtc_lab.runtime.sagemaker.log import ContainerLog
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.sink import LINES_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

_RESOLVE_LIMIT_S = 600.0
_LOOK_S = 1.0
_TELL_LIMIT_S = 30.0


def run_instance(*, base: str, channel: str, source: str) -> int:
    """Run this instance to its end; return the exit code of its container.

    Args:
        base: The folder that the platform has made: ``/opt/ml``.
        channel: Folder of the channel ``smtc``.
        source: Folder with ``smtc_lab`` and ``code``.

    Raises:
        LauncherError: The instance cannot be run; says why.
    """
    facts = json.loads(Path(channel, "job.json").read_text(encoding="utf-8"))
    secret = Path(channel, "secret").read_bytes()
    resources = read_resource_config({**os.environ, BASE_FOLDER_VARIABLE: base})
    names = platform_hosts(facts["instances"], resources)
    here = resources.current_host
    instance = next(item for item in facts["instances"] if names[item["host"]] == here)
    checkpoints = _checkpoints(Path(base), facts["job"])
    folder = _make_folder(
        Path(base), facts["job_name"], instance["host"], here, checkpoints=checkpoints
    )
    os.environ[ATTEMPT_VARIABLE] = str(_next_attempt(folder))
    log = ContainerLog(
        {
            folder.log_file(here, rank): "" if rank is None else f"[rank{rank}] "
            for rank in log_ranks(planned_ranks(instance))
        },
        folder.records,
        host=instance["host"],
        key=line_key(secret),
        write=_print,
    )
    log.say(
        {
            "is": "begin",
            "platform_host": here,
            "group": instance["instance_group_name"],
            "role": instance["role"],
            "time_s": time.time(),
        }
    )
    install_requirements(Path(source, "code", "requirements.txt"))
    refuse_lacking_image(facts)
    addresses = resolve(resources.hosts, limit_s=_RESOLVE_LIMIT_S)
    place = InstancePlace(
        base=Path(base),
        source=Path(source),
        folder=folder,
        names=names,
        addresses=addresses,
        resource_config=json.loads(Path(base, CONFIG_FILE).read_text(encoding="utf-8")),
    )
    return _Instance(facts, instance, place, secret, log).run()


class _Instance:
    """One instance from the start of its agent to the last word."""

    def __init__(
        self,
        facts: Mapping[str, Any],
        instance: Mapping[str, Any],
        place: InstancePlace,
        secret: bytes,
        log: ContainerLog,
    ) -> None:
        self._facts = facts
        self._instance = instance
        self._place = place
        self._secret = secret
        self._log = log
        self._host = place.names[instance["host"]]
        self._selector = selectors.DefaultSelector()
        self._runs_script = runs_script(instance)
        self._end_at_s: float | None = None
        self._lifeline: int | None = None
        self._code: int | None = None

    def run(self) -> int:
        """Run the instance; return the exit code of its container."""
        become_subreaper()
        self._wake = signals_as_bytes()
        self._selector.register(self._wake, selectors.EVENT_READ, self._heard_signal)
        place = self._place
        listener = None
        if self._instance["role"] == "data":
            ranks = [rank for i in self._facts["instances"] for rank in planned_ranks(i)]
            address = place.addresses[self._host]
            listener = DoneListener(address, self._secret, ranks, self._selector)
        self._start_agent()
        self._log.start()
        while self._code is None:
            for key, _ in self._selector.select(_LOOK_S):
                key.data()
            if listener is not None:
                listener.drop_late()
                if listener.all_done and self._has_had_time():
                    self._ask_to_end()
        end_below(grace_s=0.0)  # what an agent that was killed has left
        ended = self._exit(self._code)
        self._log.close()
        self._keep_reports()
        rows = self._log.num_rows
        self._log.say({"is": "exit", "time_s": time.time(), "rows": rows, **ended})
        if listener is not None:
            listener.close()
            is_asked = not self._runs_script or ended.get("asked_to_stop")
            return 0 if listener.all_done and is_asked else int(ended["exit_code"])
        if ended["exit_code"] == 0:
            self._tell_data_instances()
        return int(ended["exit_code"])

    def _start_agent(self) -> None:
        place = self._place
        place.folder.secret_file.touch(mode=0o600)
        place.folder.secret_file.write_bytes(self._secret)
        config_file = place.folder.agent_file(self._host)
        told = filled_in(self._facts, self._instance, place)
        config_file.write_text(told.to_json(), encoding="utf-8")
        lifeline, self._lifeline = os.pipe2(os.O_CLOEXEC)
        environment = {
            **os.environ,
            RUN_VARIABLE: str(place.folder.path),
            LINES_VARIABLE: "1",
        }
        self._agent = subprocess.Popen(  # noqa: S603  our own module, no shell
            [sys.executable, "-m", "smtc_lab.runtime.agent", str(config_file)],
            stdin=lifeline,
            start_new_session=True,
            env=environment,
        )
        os.close(lifeline)

    def _heard_signal(self) -> None:
        """Hear that the platform ends the job, or that the agent has ended."""
        numbers = os.read(self._wake, 4096)
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._ask_to_end()
        for pid, code in reap():
            if pid == self._agent.pid:
                self._code = code

    def _has_had_time(self) -> bool:
        """Return whether this data instance may be ended, now that the trainers are done."""
        if self._end_at_s is None:
            self._end_at_s = time.monotonic() + (LEAVE_S if self._runs_script else 0.0)
        return time.monotonic() >= self._end_at_s

    def _ask_to_end(self) -> None:
        """Let go of the agent's lifeline: it ends the entry point in good order."""
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    def _exit(self, agent_code: int) -> dict[str, Any]:
        """Return how the instance ended, with what its entry point said of a failure."""
        told = InstanceExit.read(self._place.folder, self._host)
        if told is None:
            killed_by = -agent_code if agent_code < 0 else None
            return {"exit_code": agent_code % 256 or 1, "agent_signal": killed_by}
        ended = asdict(told)
        failure = self._place.folder.failure_file(self._host)
        if ended["exit_code"] != 0 and failure.is_file():
            ended["failure"] = failure.read_text(encoding="utf-8", errors="replace")[:1024]
        return ended

    def _keep_reports(self) -> None:
        """Put the compiler's reports where the platform copies them from."""
        target = self._place.folder.records.resolve().parent / "compiler"
        made = self._place.folder.compiler_folder(self._host)
        for report in made.glob("report-rank*.json"):
            target.mkdir(exist_ok=True)
            shutil.copyfile(report, target / report.name)

    def _tell_data_instances(self) -> None:
        place = self._place
        data = [each for each in self._facts["instances"] if each["role"] == "data"]
        limit_s = min(_TELL_LIMIT_S, self._facts["linger_s"])
        # one that runs the script has mostly ended, and is waited for in vain
        for is_scripted, patience_s in ((False, limit_s), (True, min(limit_s, LEAVE_S))):
            addresses = [
                place.addresses[place.names[each["host"]]]
                for each in data
                if runs_script(each) == is_scripted
            ]
            for rank in planned_ranks(self._instance):
                tell_done(addresses, self._secret, rank=rank, limit_s=patience_s)


def _checkpoints(base: Path, job: Mapping[str, Any]) -> Path:
    """Return the folder that the platform copies away while the job runs."""
    path = Path(job.get("checkpoint_local_path") or f"{DEFAULT_BASE_FOLDER}/checkpoints")
    is_below = path.is_relative_to(DEFAULT_BASE_FOLDER)
    return base / path.relative_to(DEFAULT_BASE_FOLDER) if is_below else path


def _next_attempt(folder: RunFolder) -> int:
    """Count the containers of this instance: what earlier ones wrote was brought back."""
    file = folder.records.resolve().with_name("attempt")
    try:
        number = max(0, int(file.read_text(encoding="utf-8")[:9])) + 1
    except (OSError, ValueError):
        number = 1
    with contextlib.suppress(OSError):
        file.write_text(str(number), encoding="utf-8")
    return number


def _make_folder(
    base: Path, job_name: str, planned: str, host: str, *, checkpoints: Path
) -> RunFolder:
    """Make the run folder of this instance, with links to what the platform copies away."""
    try:
        folder = RunFolder.create(base / "smtc_lab" / "runs", job_name)
        kept = checkpoints / "smtc_lab" / job_name / planned / "records"
        kept.mkdir(parents=True, exist_ok=True)
        folder.records.rmdir()
        folder.records.symlink_to(kept)
        own = folder.opt_ml(host)
        own.mkdir(parents=True, mode=0o700)
        parts = {name: base / name for name in ("model", "output")}
        for name, part in {**parts, "checkpoints": checkpoints}.items():
            part.mkdir(exist_ok=True)
            (own / name).symlink_to(part)
    except OSError as error:
        raise LauncherError(
            f"The run folder cannot be made below {str(base)!r} and {str(checkpoints)!r} "
            f"({error}). Give the instances more storage (volume_gb)."
        ) from error
    return folder


def _print(line: str) -> None:
    sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
    sys.stdout.buffer.flush()
