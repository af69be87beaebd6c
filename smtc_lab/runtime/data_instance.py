"""How a script's dataloaders are fed by data instances, and what those run.

The script runs on trainers only. Its dataloaders send what they need to the data servers; a
data instance serves until the trainers are done, and runs no line of the script.
"""

from __future__ import annotations

import ipaddress
import signal
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import torch.utils.data
from torch.utils.data import dataloader as torch_dataloader

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.placement import (
    Placement,
    ServerAddress,
    has_iterated,
    set_default,
)
from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.records.records import LOADER_KEPT, NOTHING_TO_SERVE

if TYPE_CHECKING:
    from smtc_lab.runtime.instance_runtime import InstanceRuntime

DATA_PORT = 16400
"""Port of an instance's data server, on the instance's own address."""


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
            keeps_in_process=context.keeps_in_process,
            record=runtime.record,
            notify=lambda message: runtime.event("data", message),
            # once, also of a loader that is made anew in each epoch
            on_kept=cache(partial(runtime.event, LOADER_KEPT)),
        )
    )
    if not context.data_servers and context.measure is None:
        return None
    replacement = dataloader_class(runtime)
    _replace_torch_dataloader(replacement)
    return replacement


def dataloader_class(runtime: InstanceRuntime) -> type[DataLoader[Any]]:
    """Return the class of a session's dataloaders on this instance."""
    if runtime.context.measure is not None:
        from smtc_lab.runtime.measured_loader import MeasuredDataLoader  # noqa: PLC0415  other jobs do without

        return MeasuredDataLoader
    return DataLoader


def say_if_unused(runtime: InstanceRuntime) -> None:
    """Tell of data instances that this trainer's script has never asked for a batch."""
    servers = runtime.context.data_servers
    if servers and not has_iterated():
        runtime.event(
            NOTHING_TO_SERVE,
            f"{' and '.join(servers)} had nothing to serve: the script iterated over no "
            "dataloader.",
        )


def serve_until_stopped(runtime: InstanceRuntime) -> None:
    """Serve the trainers of this data instance's job until it is told to stop.

    Raises:
        EntryPointError: The job has no secret here.
        DataServiceError: The data port cannot be listened on.
    """
    context = runtime.context
    if context.secret is None:
        raise EntryPointError(
            f"{context.host} cannot read the secret of its job, so it cannot serve. Give its "
            "process the folder of the run."
        )
    from smtc_lab.dataservice.serving.server import DataServer  # noqa: PLC0415  trainers do without

    server = DataServer(
        host=context.address,
        port=DATA_PORT,
        secret=context.secret,
        tls=not _is_loopback(context.address),
        num_data_workers=context.num_workers or 1,
        name=context.host,
        on_event=lambda message: runtime.event("data", message),
        bytes_per_s=None if context.link is None else context.link.batch_bytes_per_s,
    )
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    context.say_ready()
    count = context.num_workers or 1
    print(  # noqa: T201  the instance's log is its stdout
        f"smtc-lab: {context.host} serves each dataloader of the trainers with {count} data "
        f"worker{'' if count == 1 else 's'}",
        flush=True,
    )
    server.serve_forever()


def _is_loopback(address: str) -> bool:
    """Return whether what is sent to an address stays on this machine."""
    return ipaddress.ip_address(address).is_loopback


def _replace_torch_dataloader(replacement: type[DataLoader[Any]]) -> None:
    """Let ``from torch.utils.data import DataLoader`` find ours."""
    for module in (torch.utils.data, torch_dataloader):
        setattr(module, "DataLoader", replacement)  # noqa: B010  a class that mypy takes for fixed
