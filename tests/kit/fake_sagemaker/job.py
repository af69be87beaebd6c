"""One training job of the fake: its instances from begin to end, by the platform's rules."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tarfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.resource_config import assign_hosts, resource_config
from tests.kit.fake_sagemaker.container import Container

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.kit.fake_sagemaker.storage import Storage

STOP_GRACE_S = 2.0
"""Time between TERM and KILL. SageMaker gives 120 s."""

REVERSED = "FAKE_SAGEMAKER_HOSTS_REVERSED"
"""Variable of a request that has the last group named first: SageMaker promises no order."""

_LOG_LOOK_S = 0.05
_IMAGE = Path(__file__).parent / "image"


@dataclass
class _Instance:
    """One instance of a job."""

    host: str
    base: Path
    container: Container | None = None
    lines: list[str] = field(default_factory=list)
    stream: str = ""
    has_stream: bool = False


class FakeJob:
    """Runs a job: starts its containers, ends them together, keeps what they leave.

    Args:
        request: A legal CreateTrainingJob request.
        folder: Where its instances' folders are made.
        network: First three parts of the instances' loopback addresses.
        storage: The account's S3 and CloudWatch.
        tell: Called with each secondary status, in order.
    """

    def __init__(
        self,
        request: Mapping[str, Any],
        *,
        folder: Path,
        network: str,
        storage: Storage,
        tell: Callable[[str], None],
    ) -> None:
        self._request = request
        self._name = str(request["TrainingJobName"])
        self._folder = folder / self._name
        self._storage = storage
        self._tell = tell
        self._changed = threading.Condition()
        self._stopping = False
        groups = assign_hosts(_groups(request))
        self._groups = groups
        hosts = [host for group in groups for host in group.hosts]
        self._addresses = {host: f"{network}.{n}" for n, host in enumerate(hosts, start=1)}
        self._instances = [
            _Instance(host=host, base=self._folder / host / "opt" / "ml") for host in hosts
        ]
        self.failure_reason = ""
        """Why it failed; empty: it did not."""

    def stop(self) -> None:
        """Stop it: TERM, the grace, KILL."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def run(self) -> str:
        """Run it to its end; return the last secondary status."""
        self._tell("Starting")
        limit_s = self._request["StoppingCondition"].get("MaxRuntimeInSeconds", 86400)
        self._tell("Downloading")
        for instance in self._instances:
            self._provide(instance)
        self._tell("Training")
        deadline = time.monotonic() + limit_s
        pump = threading.Thread(target=self._pump, daemon=True)
        for instance in self._instances:
            self._start(instance)
        pump.start()
        ended = self._watch(deadline)
        self._end()
        pump.join()
        self._tell("Uploading" if ended != "Stopped" else "Stopping")
        for instance in self._instances:
            self._keep(instance)
        return ended

    def forget(self) -> None:
        """Remove its instances' folders."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _watch(self, deadline: float) -> str:
        """Wait for whatever decides how the job ends."""
        with self._changed:
            while True:
                codes = {i.host: i.container.exit_code for i in self._instances if i.container}
                failed = next((host for host, code in codes.items() if code), None)
                if self._stopping:
                    return "Stopped"
                if failed is not None:
                    self.failure_reason = self._why(failed, codes[failed] or 1)
                    return "Failed"
                if None not in codes.values():
                    return "Completed"
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return "MaxRuntimeExceeded"
                self._changed.wait(left_s)

    def _why(self, host: str, code: int) -> str:
        base = next(i.base for i in self._instances if i.host == host)
        failure = base / "output" / "failure"
        said = failure.read_text(errors="replace")[:1024] if failure.is_file() else ""
        return f"AlgorithmError: {said}, exit code: {code}"

    def _end(self) -> None:
        """End every container that still runs."""
        containers = [i.container for i in self._instances if i.container]
        for container in containers:
            container.terminate()
        deadline = time.monotonic() + STOP_GRACE_S
        with self._changed:
            while any(c.exit_code is None for c in containers):
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
        for container in containers:
            container.kill()
            container.join()

    def _provide(self, instance: _Instance) -> None:
        """Make an instance's ``/opt/ml`` as the platform does."""
        config = instance.base / "input" / "config"
        config.mkdir(parents=True)
        group = next(g for g in self._groups if instance.host in g.hosts)
        channels = {}
        for channel in self._request.get("InputDataConfig", ()):
            source = channel["DataSource"]["S3DataSource"]
            if group.instance_group_name not in source.get(
                "InstanceGroupNames", [group.instance_group_name]
            ):
                continue
            name = channel["ChannelName"]
            self._storage.download(source["S3Uri"], instance.base / "input" / "data" / name)
            channels[name] = {
                "TrainingInputMode": channel.get("InputMode", "File"),
                "S3DistributionType": "FullyReplicated",
                "RecordWrapperType": "None",
            }
        if checkpoints := self._request.get("CheckpointConfig"):
            self._storage.download(checkpoints["S3Uri"] + "/", instance.base / "checkpoints")
        contents = {
            "resourceconfig.json": resource_config(self._groups, instance.host),
            "hyperparameters.json": self._request.get("HyperParameters", {}),
            "inputdataconfig.json": channels,
        }
        for name, content in contents.items():
            (config / name).write_text(json.dumps(content), encoding="utf-8")

    def _start(self, instance: _Instance) -> None:
        instance.stream = f"{self._name}/{instance.host}-{time.time_ns() // 10**6}"
        hosts = ",".join(f"{host}={address}" for host, address in self._addresses.items())
        environment = {
            **self._request.get("Environment", {}),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(instance.base),
            "LANG": "C.UTF-8",
            "TRAINING_JOB_NAME": self._name,
            "AWS_REGION": "us-east-1",
            "SAGEMAKER_BASE_DIR": str(instance.base),
            "FAKE_SAGEMAKER_HOSTS": hosts,
            "PYTHONPATH": str(_IMAGE),
        }
        instance.container = Container(
            instance.base,
            command=self._request["AlgorithmSpecification"]["ContainerEntrypoint"],
            environment=environment,
            on_line=instance.lines.append,
            on_end=self._notice,
        )

    def _notice(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _pump(self) -> None:
        """Bring what the containers print to CloudWatch until the last has ended."""
        while True:
            containers = [instance.container for instance in self._instances]
            ended = all(c is not None and c.exit_code is not None for c in containers)
            for instance in self._instances:
                count = len(instance.lines)
                if not count:
                    continue
                if not instance.has_stream:
                    instance.has_stream = True
                    self._storage.open_stream(instance.stream)
                self._storage.log(instance.stream, instance.lines[:count])
                del instance.lines[:count]
            if ended:
                return
            time.sleep(_LOG_LOOK_S)  # the delay of the platform's own log agent

    def _keep(self, instance: _Instance) -> None:
        """Copy to S3 what the platform keeps of an instance."""
        if checkpoints := self._request.get("CheckpointConfig"):
            self._storage.upload(instance.base / "checkpoints", checkpoints["S3Uri"])
        model = instance.base / "model"
        if model.is_dir() and any(model.iterdir()):
            data = io.BytesIO()
            with tarfile.open(fileobj=data, mode="w:gz") as archive:
                for path in sorted(model.iterdir()):
                    archive.add(path, path.name)
            uri = self._request["OutputDataConfig"]["S3OutputPath"].rstrip("/")
            self._storage.put(f"{uri}/{self._name}/output/model.tar.gz", data.getvalue())


def _groups(request: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return name, type and count of each group, in the order in which hosts are named."""
    resources = request["ResourceConfig"]
    groups: Iterable[Mapping[str, Any]] = resources.get("InstanceGroups") or [
        {"InstanceGroupName": "homogeneousCluster", **resources}
    ]
    found = [(g["InstanceGroupName"], g["InstanceType"], g["InstanceCount"]) for g in groups]
    return found[::-1] if REVERSED in request.get("Environment", {}) else found
