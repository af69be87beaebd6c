"""The actor that stands for one instance on its node of a Ray cluster.

What goes in and out is plain: text, bytes, numbers, lists and dicts of them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import math
import os
import select
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.on_ray.node_files import NodeFiles
from smtc_lab.launchers.on_ray.node_keeper import FETCHED, LEFT
from smtc_lab.launchers.supervision.begin import kept_environment
from smtc_lab.machine.cores import available_cores, versions
from smtc_lab.machine.network import interface_of
from smtc_lab.store.run_folder import RunFolder

_CLOSE_LIMIT_S = 10.0

_START_ALONE = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
if pid := os.fork():
    print(pid, flush=True)
else:
    os.setsid()
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 1)
    os.dup2(1, 2)
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Starts the keeper as nobody's child: Ray kills the children of a worker that dies."""


class HostActor:
    """Runs one instance of a job on the node of this actor, in a private folder there.

    Args:
        job_name: Name of the job.
        host: Name of the instance.
    """

    def __init__(self, job_name: str, host: str) -> None:
        self._folder = RunFolder.create(Path(tempfile.mkdtemp(prefix="smtc-ray-")), job_name)
        self._host = host
        self._files = NodeFiles(self._folder, host)
        self._source = self._folder.path / "source"
        self._lifeline = -1
        self._keeper = -1

    def prepare(self, source: bytes) -> dict[str, Any]:
        """Unpack the source, and return what this node is; see ``RayNode``.

        Args:
            source: The archive of the entry point's folder.
        """
        ray = importlib.import_module("ray")
        self._source.mkdir(mode=0o700)
        with tarfile.open(fileobj=io.BytesIO(source)) as archive:
            archive.extractall(self._source, filter="data")  # no device, nothing outside
        address = ray.util.get_node_ip_address()
        return {
            "address": address,
            "interface": interface_of(address),
            "num_cpus": max(1, math.floor(available_cores())),
            "num_gpus": len(ray.get_gpu_ids()),
            "node_id": ray.get_runtime_context().get_node_id(),
            "python": sys.executable,
            "run_folder": str(self._folder.path),
            "source_folder": str(self._source),
            "version": versions().get("smtc-lab", "unknown"),
        }

    def put(self, told: tuple[str, int, int], offset: int, data: bytes) -> None:
        """Write a piece of a checkpoint of an earlier attempt; see ``NodeFiles.put``."""
        self._files.put(told, offset, data)

    def start(self, agent: str, plan: str, secret: bytes, variables: dict[str, str]) -> None:
        """Start the keeper of the instance, which starts its agent.

        Args:
            agent: Content of ``agent.json``.
            plan: Content of ``plan.json``: this instance, its grace and its time limit.
            secret: The job's secret.
            variables: What else its processes are told, the attempt's number among it.
        """
        folder = self._folder
        folder.secret_file.touch(mode=0o600)
        folder.secret_file.write_bytes(secret)
        folder.plan_file.write_text(plan, encoding="utf-8")
        folder.instance(self._host).mkdir(mode=0o700, exist_ok=True)
        folder.agent_file(self._host).write_text(agent, encoding="utf-8")
        log = folder.logs / f"{self._host}.agent.log"
        keeper = ["-m", "smtc_lab.launchers.on_ray.node_keeper", str(folder.path)]
        lifeline, self._lifeline = os.pipe2(os.O_CLOEXEC)
        try:
            started = subprocess.run(  # noqa: S603  our own module, no shell
                [sys.executable, "-ISc", _START_ALONE, str(log), *keeper],
                stdin=lifeline,
                stdout=subprocess.PIPE,
                check=True,
                cwd=self._source,
                env=self._environment(agent) | variables,
            )
        finally:
            os.close(lifeline)
        self._keeper = os.pidfd_open(int(started.stdout))

    def poll(self, cursor: dict[str, int], limit_s: float) -> dict[str, Any]:
        """Return the instance's news; see ``NodeFiles.news``.

        ``ended`` is ``{}`` when the keeper was killed, so that nobody knows how it ended.
        """
        is_gone = self._is_gone(0.0)
        news = self._files.news(cursor, 0.0 if is_gone else limit_s)
        if is_gone and news["ended"] is None:
            news["ended"] = {}
        return news

    def outputs(self) -> list[tuple[str, int]]:
        """Return what the entry point leaves behind: path below ``opt/ml``, and bytes."""
        return self._files.outputs()

    def read(self, path: str, offset: int, num_bytes: int) -> bytes:
        """Return a piece of one of the ``outputs``."""
        return self._files.read(path, offset, num_bytes)

    def listing(self) -> list[tuple[str, int, int]]:
        """Return the checkpoints; see ``NodeFiles.listing``."""
        return self._files.listing()

    def piece(self, told: tuple[str, int, int], offset: int, num_bytes: int) -> bytes | None:
        """Return a piece of a checkpoint; see ``NodeFiles.piece``."""
        return self._files.piece(told, offset, num_bytes)

    def end(self) -> None:
        """Ask the instance to end; ``poll`` tells when it has. Safe to call again."""
        if self._keeper >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._keeper, signal.SIGTERM)

    def close(self, *, is_fetched: bool) -> None:
        """Let go of the instance; return when nothing of it is left on the node.

        Args:
            is_fetched: Whether everything that it saved is elsewhere now, so that the folder
                may go.
        """
        if self._lifeline >= 0:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._lifeline, FETCHED if is_fetched else LEFT)
            os.close(self._lifeline)
            self._lifeline = -1
            self._is_gone(_CLOSE_LIMIT_S)
        self._files.remove(is_fetched=is_fetched)  # where the keeper could not

    def _is_gone(self, limit_s: float) -> bool:
        """Return whether the keeper ends within a time."""
        poller = select.poll()
        poller.register(self._keeper, select.POLLIN)
        return bool(poller.poll(limit_s * 1000))

    def _environment(self, agent: str) -> dict[str, str]:
        """Return this worker's variables without what Ray has set for itself."""
        environment = kept_environment(os.environ)
        environment.pop("PYTHONBREAKPOINT", None)  # Ray's debugger
        if not json.loads(agent)["num_gpus"]:
            environment.pop("CUDA_VISIBLE_DEVICES", None)
        return environment | {RUN_VARIABLE: str(self._folder.path)}
