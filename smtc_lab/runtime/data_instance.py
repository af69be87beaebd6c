"""How a script's dataloaders are fed by data instances, and served on them.

The same script runs on every instance. On a trainer its dataloaders ask the data servers. On a
data instance it runs up to its first iteration over a dataloader, in a process group of its
own where it makes one, and on the CPU where it asks for a GPU that is not there. Then the
loaders made so far are served until the trainers are done, and the script ends.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import threading
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import torch.utils.data
from torch.utils.data import dataloader as torch_dataloader

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.late_loaders.landmarks import Landmarks
from smtc_lab.dataservice.placement import Placement, ServerAddress, set_default
from smtc_lab.dataservice.serving.server import DataServer
from smtc_lab.dataservice.source import can_be_served, source_of
from smtc_lab.metrics.records.records import NOTHING_TO_SERVE
from smtc_lab.runtime import without_gpu
from smtc_lab.runtime.lone_group import stay_alone
from smtc_lab.runtime.ranks.reducing import reduces_on_data, start_reducer

if TYPE_CHECKING:
    import subprocess
    from types import FrameType

    from smtc_lab.runtime.instance_runtime import InstanceRuntime

DATA_PORT = 16400
"""Port of an instance's data server, on the instance's own address."""

_LONGEST_END_S = 5.0
"""How long a script that iterates in a thread waits for the end of its data server."""

_LOADERS: list[DataLoader[Any]] = []
_T_co = TypeVar("_T_co", covariant=True)


class ServedDataLoader(DataLoader[_T_co]):
    """A dataloader on a data instance: whoever iterates over it serves, and goes no further."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  as torch's own
        super().__init__(*args, **kwargs)
        _LOADERS.append(self)

    def __iter__(self) -> NoReturn:  # there is nothing to iterate over
        """Serve the loaders made so far until the trainers are done; then end the script."""
        from smtc_lab.runtime.instance_runtime import instance_runtime  # noqa: PLC0415

        serve_until_stopped(instance_runtime())


def use_data_service(runtime: InstanceRuntime) -> type[DataLoader[Any]] | None:
    """Let the dataloaders of this process, torch's own by name too, use the job's data servers.

    In a homogeneous job, and outside a job, torch's own dataloader stays as it is, but for a
    calibration, which varies the number of its data workers.

    Returns:
        What takes the place of torch's; None: that stays.
    """
    context = runtime.context
    set_default(
        Placement(
            servers=tuple(
                ServerAddress(address, DATA_PORT) for address in context.data_servers.values()
            ),
            secret=context.secret,
            tls=not all(map(_is_loopback, context.data_servers.values())),
            num_local_workers=context.num_loader_workers,
            seed=context.seed,
            allow_pickle=context.allow_pickle,
            record=runtime.record,
            notify=lambda message: runtime.event("data", message),
        )
    )
    if context.role == "data":
        _end_on_sigterm()
        if reduces_on_data(context):
            _Serving.reducer = start_reducer(context)
        stay_alone(has_ranks=not context.has_lone_trainer)
        if not torch.cuda.is_available():
            without_gpu.compute_on_cpu()
    if context.role != "data" and not context.data_servers and context.measure is None:
        return None
    replacement = dataloader_class(runtime)
    _replace_torch_dataloader(replacement)
    return replacement


def dataloader_class(runtime: InstanceRuntime) -> type[DataLoader[Any]]:
    """Return the class of a session's dataloaders on this instance."""
    if runtime.context.role == "data":
        return ServedDataLoader
    if runtime.context.measure is not None:
        from smtc_lab.runtime.measured_loader import MeasuredDataLoader  # noqa: PLC0415  other jobs do without

        return MeasuredDataLoader
    return DataLoader


def serve_until_stopped(runtime: InstanceRuntime) -> NoReturn:
    """Serve this process's dataloaders until it is told to stop; then end the script.

    Raises:
        SystemExit: Always; with success.
    """
    if not _Serving.begins.acquire(blocking=False):  # another thread of the script was first
        threading.Event().wait()
    without_gpu.end()
    _end_on_sigterm()
    _Serving.is_in_main_thread = threading.current_thread() is threading.main_thread()
    context = runtime.context
    loaders = {
        loader.loader_name: source_of(loader) for loader in _LOADERS if can_be_served(loader)
    }
    context.say_ready()
    if not loaders or context.secret is None:
        runtime.event(
            "warning",
            f"{context.host} has nothing to serve: the script made {len(_LOADERS)} "
            "dataloaders, none over a dataset that can be served (DataPipes cannot). The "
            "trainers prepare their own batches.",
        )
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        signal.sigwait({signal.SIGTERM})
        raise SystemExit(0)
    server = _Serving.server = DataServer(
        loaders,
        host=context.address,
        port=DATA_PORT,
        secret=context.secret,
        tls=not _is_loopback(context.address),
        num_data_workers=context.num_workers or 1,
        name=context.host,
        on_event=lambda message: runtime.event("data", message),
        landmarks=Landmarks.here(),
        bytes_per_s=None if context.link is None else context.link.batch_bytes_per_s,
    )
    print(  # noqa: T201  the instance's log is its stdout
        f"smtc-lab: {context.host} serves {len(loaders)} dataloaders with "
        f"{context.num_workers or 1} data workers",
        flush=True,
    )
    server.serve_forever()
    _Serving.has_ended.set()
    raise SystemExit(0)


def end_training(runtime: InstanceRuntime) -> None:
    """End a script here that trains and has made no dataloader: nothing is to be served.

    Raises:
        SystemExit: It has made none; with success, since nothing depends on it.
    """
    if _LOADERS:
        return
    if _Serving.reducer is not None:  # the trainers still need this instance
        serve_until_stopped(runtime)
    runtime.context.say_ready()
    runtime.event(
        NOTHING_TO_SERVE,
        f"{runtime.context.host} has nothing to serve: the script trains without a dataloader, "
        "so it ends here. The trainers prepare their own batches.",
    )
    raise SystemExit(0)


class _Serving:
    """The data server of this process, for the handler of signals."""

    server: DataServer | None = None
    reducer: subprocess.Popen[str] | None = None
    """Sums gradients beside it, and ends with this process; None: it is not asked for."""
    is_in_main_thread = True
    begins = threading.Lock()
    has_ended = threading.Event()


def _end_on_sigterm() -> None:
    """Let SIGTERM end the server, wherever the script iterates over a loader, and the script.

    A script may do that in a thread, where no handler can be set.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    server = _Serving.server
    if server is None:  # as without a handler
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
        return
    server.stop()
    if not _Serving.is_in_main_thread:
        _Serving.has_ended.wait(_LONGEST_END_S)
        raise SystemExit(0)


def _is_loopback(address: str) -> bool:
    """Return whether what is sent to an address stays on this machine."""
    return ipaddress.ip_address(address).is_loopback


def _replace_torch_dataloader(replacement: type[DataLoader[Any]]) -> None:
    """Let ``from torch.utils.data import DataLoader`` find ours."""
    for module in (torch.utils.data, torch_dataloader):
        setattr(module, "DataLoader", replacement)  # noqa: B010  a class that mypy takes for fixed
