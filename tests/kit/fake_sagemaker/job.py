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
from tests.kit.fake_sagemaker.storage import stamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.kit.fake_sagemaker.storage import Storage

STOP_GRACE_S = 2.0
"""Time between TERM and KILL. SageMaker gives 120 s."""

REVERSED = "FAKE_SAGEMAKER_HOSTS_REVERSED"
"""Variable of a request that has the last group named first: SageMaker promises no order."""

INTERRUPTED_AFTER = "FAKE_SAGEMAKER_INTERRUPTED_AFTER"
"""Variable of a request for spot instances: they are taken away once a container has printed
this text. Several are divided by ``|``, one for each interruption."""

_LOG_LOOK_S = 0.05
_SYNC_S = 0.2
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
    synced: dict[Path, tuple[int, int]] = field(default_factory=dict)


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
        self._stopping = self._interrupted = False
        told = request.get("Environment", {}).get(INTERRUPTED_AFTER, "")
        is_spot = request.get("EnableManagedSpotTraining", False)
        self._interruptions = [text for text in told.split("|") if text and is_spot]
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
        limit_s = self._request["StoppingCondition"].get("MaxRuntimeInSeconds", 86400)
        deadline = time.monotonic() + limit_s
        while (ended := self._attempt(deadline)) == "Interrupted":
            self._tell("Interrupted")
            self.forget()
            self._interrupted = False
        self._tell("Uploading" if ended != "Stopped" else "Stopping")
        self._sync()
        for instance in self._instances:
            self._keep(instance)
        return ended

    def _attempt(self, deadline: float) -> str:
        """Run its containers once; return what the last secondary status then is."""
        self._tell("Starting")
        self._tell("Downloading")
        for instance in self._instances:
            self._provide(instance)
        self._tell("Training")
        pump = threading.Thread(target=self._pump, daemon=True)
        for instance in self._instances:
            self._start(instance)
        pump.start()
        ended = self._watch(deadline)
        self._end()
        pump.join()
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
                if self._interrupted:
                    return "Interrupted"
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
        if (checkpoints := self._checkpoints(instance)) is not None:
            folder, uri = checkpoints
            self._storage.download(uri.rstrip("/") + "/", folder)
            instance.synced = stamps(folder)
        contents = {
            "resourceconfig.json": resource_config(self._groups, instance.host),
            "hyperparameters.json": self._request.get("HyperParameters", {}),
            "inputdataconfig.json": channels,
        }
        for name, content in contents.items():
            (config / name).write_text(json.dumps(content), encoding="utf-8")

    def _checkpoints(self, instance: _Instance) -> tuple[Path, str] | None:
        """Return the folder of an instance that is kept in S3, and where; None: none is."""
        config = self._request.get("CheckpointConfig")
        if config is None:
            return None
        local = Path(config.get("LocalPath", "/opt/ml/checkpoints"))
        below = local.is_relative_to("/opt/ml")
        folder = instance.base / local.relative_to("/opt/ml") if below else local
        return folder, config["S3Uri"]

    def _sync(self) -> None:
        """Bring what is new in the checkpoint folders to S3, but of spot instances that go."""
        for instance in [] if self._interrupted else self._instances:
            if (checkpoints := self._checkpoints(instance)) is not None:
                self._storage.sync(*checkpoints, instance.synced)

    def _start(self, instance: _Instance) -> None:
        instance.has_stream = False
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
        """Bring what the containers print and save elsewhere until the last has ended."""
        sync_at_s = 0.0
        while True:
            containers = [instance.container for instance in self._instances]
            ended = all(c is not None and c.exit_code is not None for c in containers)
            text, is_due = (self._interruptions or ["\n"])[0], False
            for instance in self._instances:
                count = len(instance.lines)
                if not count:
                    continue
                if not instance.has_stream:
                    instance.has_stream = True
                    self._storage.open_stream(instance.stream)
                self._storage.log(instance.stream, instance.lines[:count])
                is_due |= any(text in line for line in instance.lines[:count])
                del instance.lines[:count]
            if is_due or ended or time.monotonic() >= sync_at_s:
                self._sync()
                sync_at_s = time.monotonic() + _SYNC_S
            if is_due:  # what lay there when that was printed is in S3, and nothing else
                self._interruptions.pop(0)
                with self._changed:
                    self._interrupted = True
                    self._changed.notify_all()
            if ended:
                return
            time.sleep(_LOG_LOOK_S)  # the delay of the platform's own log agent

    def _keep(self, instance: _Instance) -> None:
        """Copy to S3 what the platform keeps of an instance."""
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
