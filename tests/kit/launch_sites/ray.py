"""A Ray cluster on this machine: a head without CPUs, and four nodes of two types.

Each node is in a network namespace of its own where root allows that, else it has a loopback
address. The cluster is started once for all tests of a process, and ends with it.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import psutil

from smtc_lab.launchers.on_ray.engine import SLOW_MODULE
from smtc_lab.launchers.on_ray.launcher import RayLauncher
from smtc_lab.launchers.on_ray.local_cluster import ClusterNode, LocalCluster
from smtc_lab.launchers.on_ray.nodes import TYPE
from tests.kit.launch_sites.namespaces import Namespaces
from tests.kit.launch_sites.site import pid_of_agent
from tests.kit.runs import command_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.launchers.run import Run

NODE_TYPES = ("ml.p3.2xlarge", "ml.c5.9xlarge", "ml.c5.9xlarge", "ml.c5.9xlarge")
"""What the nodes say they are. One more than the tests' jobs ask for: a test kills one."""

_NUM_ADDED = 3
"""Nodes that tests may add."""

_ADD_NODE = """
import sys
from smtc_lab.machine.processes import enter_network
from ray.scripts.scripts import start
if sys.argv[1]:
    enter_network(sys.argv[1])
start.main(sys.argv[2:], standalone_mode=False)
"""

_LEAST_BYTES = 4 * 2**30

_OPTIONS = (
    "--num-cpus=2",
    "--num-gpus=0",
    f"--object-store-memory={100 * 2**20}",
    "--dashboard-agent-listen-port=0",
    "--include-log-monitor=false",
    "--block",
)


class RaySite:
    """The Ray launcher, on a cluster of this machine.

    Args:
        address: Head of the cluster, and behind a comma the file with its token.
    """

    name: ClassVar[str] = "ray"

    def __init__(self, address: str) -> None:
        self.address = address
        self._head, _, token = address.partition(",")
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": token}

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        """Start the cluster, if it does not run yet.

        Raises:
            unittest.SkipTest: Ray is not installed, or there is too little memory.
        """
        if importlib.util.find_spec("ray") is None:
            raise unittest.SkipTest("Ray is not installed: pip install 'smtc-lab[ray]'")
        if psutil.virtual_memory().available < _LEAST_BYTES:
            raise unittest.SkipTest("a Ray cluster of 5 nodes needs 4 GiB of free memory")
        cluster = _cluster()
        yield cls(f"{cluster.address},{cluster.environment['RAY_AUTH_TOKEN_PATH']}")

    @classmethod
    def joined(cls, address: str) -> Self:
        """Return the place that another process has opened."""
        return cls(address)

    def launcher(self, root: Path) -> RayLauncher:
        """Return a launcher of this cluster."""
        return RayLauncher(root=root, address=self._head)

    def pid(self, run: Run, what: Literal["script", "agent"], *, host: str) -> int:
        """Return a process of an instance of a run."""
        return pid_of_agent(run.job_name, what, host=host)

    @contextmanager
    def added_node(self, number: int, labels: dict[str, str]) -> Iterator[None]:
        """Let one more node be there; whatever is left of it ends at the end.

        Args:
            number: Which of those that may be added, from 0.
            labels: What it says of itself.
        """
        place, namespaces = len(NODE_TYPES) + number, _namespaces()
        texts = ",".join(f"{name}={value}" for name, value in labels.items())
        with tempfile.TemporaryDirectory(prefix="smtc-ray-added-") as folder:
            lean = Path(folder, "lean")  # as LocalCluster spares its nodes a slow import
            lean.mkdir()
            (lean / f"{SLOW_MODULE}.py").write_text("raise ImportError", encoding="ascii")
            paths = os.pathsep.join(filter(None, [str(lean), os.environ.get("PYTHONPATH")]))
            process = subprocess.Popen(  # noqa: S603  Ray's own program, no shell
                [
                    *(sys.executable, "-c", _ADD_NODE),
                    namespaces.files[place] if namespaces else "",
                    f"--address={self._head}",
                    f"--node-ip-address={self._head.rpartition('.')[0]}.{2 + place}",
                    f"--labels={texts}",
                    f"--temp-dir={folder}",
                    *_OPTIONS,
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env={**os.environ, "PYTHONPATH": paths, "RAY_health_check_period_ms": "1000"},
            )
            try:
                _await_node(process)
                yield
            finally:
                _end_tree(process)

    def raylet(self, run: Run, host: str) -> int:
        """Return Ray's own process of the node that an instance is on."""
        nodes: Any = run.state.facts["nodes"]
        mark = f"--node_ip_address={nodes[host]['address']}"
        for pid in psutil.pids():
            command = command_of(pid)
            if "raylet/raylet" in command and mark in command.split():
                return int(pid)
        raise LookupError(f"There is no raylet of {host} of job {run.job_name!r}.")

    def actor(self, run: Run, host: str) -> int:
        """Return the process of the actor of an instance."""
        for worker in psutil.Process(self.raylet(run, host)).children():
            if command_of(worker.pid).startswith("ray::HostActor"):
                return int(worker.pid)
        raise LookupError(f"There is no actor of {host} of job {run.job_name!r}.")


def _await_node(process: subprocess.Popen[str]) -> None:
    said = ""
    while "Ray runtime started" not in said:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise RuntimeError(f"The node did not come up: {said}")
        said += line


def _end_tree(process: subprocess.Popen[str]) -> None:
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    process.kill()
    process.communicate()


@cache
def _namespaces() -> Namespaces | None:
    return Namespaces.made(len(NODE_TYPES) + _NUM_ADDED)


@cache
def _cluster() -> LocalCluster:
    namespaces = _namespaces()
    nodes = [
        ClusterNode(
            num_cpus=2,
            labels={TYPE: kind},
            address=namespaces.addresses[place] if namespaces else "",
            namespace=namespaces.files[place] if namespaces else "",
        )
        for place, kind in enumerate(NODE_TYPES)
    ]
    log = Path(tempfile.gettempdir(), f"smtc-ray-site-{os.getpid()}.log")
    cluster = LocalCluster.started(
        nodes, log=log, head_address=namespaces.head if namespaces else ""
    )

    def end() -> None:
        cluster.end()
        if namespaces:
            namespaces.remove()
        log.unlink(missing_ok=True)

    atexit.register(end)
    cluster.wait_for_address(threading.Event())
    return cluster
