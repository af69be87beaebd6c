"""A Ray cluster of this machine alone, for trying: one node for each instance.

Each node has a loopback address of its own, so that the instances' ports do not meet. Who wants
to join needs the cluster's token. ``ray stop`` is never called: it would end every Ray of the
user. The cluster's processes are the descendants of one process, started as
``python -m smtc_lab.launchers.on_ray.local_cluster <folder>``, which ends with whoever started
it.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import secrets
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_ray.engine import SLOW_MODULE
from smtc_lab.launchers.supervision.last_words import last_line
from smtc_lab.machine.processes import (
    become_subreaper,
    descendants,
    end_all,
    enter_network,
    reap,
    signals_as_bytes,
)

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

_OBJECT_STORE_BYTES = 100 * 2**20
"""Ray's least is 75 MiB. Sources are all that goes through it."""

_AT_ONCE = 2
"""Nodes that are started at once. Ray gives each of them 30 s, of which 5 are computing."""

_LOOK_S = 0.1
_SPEC = "cluster.json"
_TOKEN = "token"  # noqa: S105  the name of a file
_LEAN = "lean"
_READY = b"ready\n"


@dataclass(frozen=True, kw_only=True)
class ClusterNode:
    """A node to start."""

    num_cpus: int
    """CPUs that Ray may use on it."""

    labels: dict[str, str] = field(default_factory=dict)
    """What it says of itself."""

    address: str = ""
    """Its address on this machine; empty: a loopback address of its own."""

    namespace: str = ""
    """File of the network namespace that it lives in; empty: that of this process."""


class LocalCluster:
    """A cluster that ends with this object's ``end``, or with this process."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
        spec = json.loads((folder / _SPEC).read_text(encoding="utf-8"))
        self._process = process
        self._log = log
        self.address: str = spec["address"]
        """By which a process of this machine joins it."""
        self.environment = own_environment(folder)
        """What such a process needs in its environment."""

    @classmethod
    def started(
        cls, nodes: Sequence[ClusterNode], *, log: Path, head_address: str = ""
    ) -> LocalCluster:
        """Start a head without CPUs, and then the nodes, two at once. Does not wait for them.

        Args:
            nodes: What to start beside the head.
            log: What the commands say goes here.
            head_address: Address of the head; empty: a loopback address.
        """
        folder = Path(tempfile.mkdtemp(prefix="smtc-ray-"))  # short: sockets lie below it
        network = f"127.{64 + secrets.randbelow(128)}.{secrets.randbelow(256)}"
        known = [ClusterNode(num_cpus=0, address=head_address), *nodes]
        spec = {
            "address": f"{head_address or f'{network}.1'}:{_free_port()}",
            "nodes": [
                {**asdict(node), "address": node.address or f"{network}.{number}"}
                for number, node in enumerate(known, start=1)
            ],
        }
        (folder / _TOKEN).touch(mode=0o600)
        (folder / _TOKEN).write_text(_token(), encoding="ascii")
        (folder / _SPEC).write_text(json.dumps(spec), encoding="utf-8")
        (folder / _LEAN).mkdir()
        (folder / _LEAN / f"{SLOW_MODULE}.py").write_text("raise ImportError", encoding="ascii")
        with log.open("ab") as file:
            process = subprocess.Popen(  # noqa: S603  our own module, no shell
                [sys.executable, "-m", "smtc_lab.launchers.on_ray.local_cluster", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                start_new_session=True,
                env={**os.environ, **own_environment(folder), **_cluster_environment(folder)},
            )
        return cls(process, folder, log)

    def wait_for_address(self, ending: threading.Event) -> str:
        """Return the address once every node is there.

        Args:
            ending: Set when nobody wants the cluster any more.

        Raises:
            LauncherError: It did not come up, or nobody wants it.
        """
        stdout = cast("IO[bytes]", self._process.stdout)
        while not select.select([stdout], [], [], _LOOK_S)[0]:
            if ending.is_set():
                raise LauncherError("The run was ended before its Ray cluster was there.")
        if stdout.readline() != _READY:
            raise LauncherError(
                f"A Ray cluster could not be started on this machine: {last_line(self._log)} "
                f"All of it: {self._log}"
            )
        return self.address

    def end(self) -> None:
        """End every process of the cluster, and remove its files."""
        self._process.communicate()


@cache
def _token() -> str:
    """Return the token of all clusters of this process: Ray reads it once in a process."""
    return secrets.token_hex(32)


def _free_port() -> int:
    """Return a port that nobody listens on: Ray's head takes it on every address."""
    with socket.create_server(("", 0)) as server:
        return int(server.getsockname()[1])


def own_environment(folder: Path) -> dict[str, str]:
    """Return the variables with which Ray works for a cluster of ours."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / _TOKEN),
        "RAY_USAGE_STATS_ENABLED": "0",
    }


def _cluster_environment(folder: Path) -> dict[str, str]:
    """Return more variables for the processes of a cluster."""
    # spares each of its dozen Python processes a slow import
    paths = [str(folder / _LEAN), *filter(None, [os.environ.get("PYTHONPATH")])]
    # a node is dead after five checks that nobody answers: 5 s instead of 15
    return {"PYTHONPATH": os.pathsep.join(paths), "RAY_health_check_period_ms": "1000"}


class _ClusterProcess:
    """Holds all processes of a cluster."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        spec = json.loads((folder / _SPEC).read_text(encoding="utf-8"))
        self._address: str = spec["address"]
        self._nodes = spec["nodes"]
        become_subreaper()
        self._wake = signals_as_bytes()
        self._lifeline = sys.stdin.fileno()
        self._heard_from = selectors.DefaultSelector()
        for descriptor in (self._wake, self._lifeline):
            self._heard_from.register(descriptor, selectors.EVENT_READ)

    def run(self) -> int:
        """Start the nodes, hold them until nobody wants them; return 0 if they were there."""
        numbers = range(1, len(self._nodes))
        pairs = [
            numbers[place : place + _AT_ONCE] for place in range(0, len(numbers), _AT_ONCE)
        ]
        try:
            if not all(map(self._started, [range(1), *pairs])):
                return 1
            os.write(1, _READY)
            while self._is_wanted():
                reap()
        finally:
            self._end()
        return 0

    def _started(self, numbers: Sequence[int]) -> bool:
        """Start nodes all at once; return whether all of them are there."""
        waiting = {self._start(number) for number in numbers}
        while waiting:
            if not self._is_wanted():
                return False
            for pid, code in reap():
                if pid in waiting and code != 0:
                    return False
                waiting.discard(pid)
        return True

    def _start(self, number: int) -> int:
        """Start a node as ``ray start`` does; return the process that ends when it is there."""
        # forked: to import Ray takes as long as all the rest
        start = importlib.import_module("ray.scripts.scripts").start
        if pid := os.fork():
            return pid
        try:
            signal.set_wakeup_fd(-1)
            for name in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(name, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(2, 1)
            if namespace := self._nodes[number]["namespace"]:
                enter_network(namespace)
            start.main(self._arguments(number), standalone_mode=False)
        except BaseException:  # noqa: BLE001  a forked process must not go on as its parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _arguments(self, number: int) -> list[str]:
        node = self._nodes[number]
        port = self._address.rpartition(":")[2]
        role = (
            ["--head", f"--port={port}", "--include-dashboard=false", "--no-monitor"]
            if number == 0
            else [f"--address={self._address}"]
        )
        own = self._folder / str(number)
        own.mkdir(mode=0o700)
        labels = ",".join(f"{name}={value}" for name, value in node["labels"].items())
        return [
            *role,
            f"--node-ip-address={node['address']}",
            f"--num-cpus={node['num_cpus']}",
            "--num-gpus=0",
            f"--labels={labels}",
            f"--object-store-memory={_OBJECT_STORE_BYTES}",
            f"--temp-dir={own}",
            "--dashboard-agent-listen-port=0",
            "--include-log-monitor=false",
            "--disable-usage-stats",
        ]

    def _is_wanted(self) -> bool:
        """Wait until something happens; return whether the cluster is still wanted."""
        heard = {key.fd for key, _ in self._heard_from.select()}
        if self._wake in heard and re.search(rb"[\x02\x0f]", os.read(self._wake, 4096)):
            return False  # SIGINT, SIGTERM
        return not (self._lifeline in heard and not os.read(self._lifeline, 64))

    def _end(self) -> None:
        def members() -> list[int]:
            reap()
            return descendants(os.getpid())

        end_all(members, grace_s=0.0)  # in good order it would take 20 s
        shutil.rmtree(self._folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(_ClusterProcess(Path(sys.argv[1])).run())
