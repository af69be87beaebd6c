"""Where trainers meet: a store that nobody else can reach.

torch's own listens on all addresses, asks nobody who he is, and has one port for all jobs that
do not choose another. Ours is a file in the run's private folder where all trainers see that;
else a store on rank 0's own address, on a port that its agent has reserved.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch.distributed as torch_distributed

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.variables import RENDEZVOUS_FOLDER_VARIABLE, STORE_FD_VARIABLE
from smtc_lab.metrics.records.records import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from smtc_lab.instance.context import InstanceContext

_stores: Any = torch_distributed  # torch exports them without saying so

_PIPELINE = "smtc_lab.parallel.pipeline.building"  # imported where a model is cut
_PARTS = "smtc_lab.parallel.tensor.parts"  # as above

_CLEAR = (
    "Gradients cross the network between {num} instances in clear: neither gloo nor NCCL "
    "encrypts. Keep these instances in a network of their own, or use one that encrypts."
)


class _Met:
    store: Any = None


def store_of_trainers() -> Any:  # noqa: ANN401  torch's
    """Return the store at which the trainers of this job met last; None: they did not."""
    return _Met.store


def meet_in_private(context: InstanceContext, say: Callable[[str, str], None]) -> None:
    """Let ``init_process_group`` of this process use our store, whatever address it names.

    A script that makes a group of another size, or in a process of its own, gets torch's.

    Args:
        context: Where this trainer stands.
        say: Tells people; called with a kind of event and a sentence.
    """
    module: Any = importlib.import_module("torch.distributed.rendezvous")
    plain, pid, meetings = module._create_c10d_store, os.getpid(), count()  # noqa: SLF001  torch has no other place
    own = _OwnStore()

    def create(
        hostname: str, port: int, rank: int, world_size: int, timeout: timedelta, *rest: object
    ) -> Any:  # noqa: ANN401  a store
        is_own = (rank, world_size) == (context.rank, context.world_size)
        if os.getpid() != pid or not is_own:
            return plain(hostname, port, rank, world_size, timeout, *rest)
        if world_size == 1:
            return _stores.HashStore()
        number = next(meetings)
        if folder := os.environ.get(RENDEZVOUS_FOLDER_VARIABLE):
            path = str(Path(folder, f"store-{number}"))
            _Met.store = _stores.FileStore(path, world_size)
            _Met.store.set_timeout(timeout)
            return _Met.store
        if rank == 0 and number == 0:
            _say_what_is_open(say)
        _Met.store = own.meet(number, rank, world_size, timeout)
        return _Met.store

    module._create_c10d_store = create  # noqa: SLF001  as above


def say_if_alone(context: InstanceContext, say: Callable[[str, str], None]) -> None:
    """Say it, after its first step, where a script has ranks and trains without the others.

    Args:
        context: Where this trainer stands.
        say: Tells people; called with a kind of event and a sentence.

    Raises:
        EntryPointError: The job has a pipeline or layers in parts, and the script trains
            without them.
    """
    layout = context.distribution
    if layout is not None and layout.pipeline > 1 and _PIPELINE not in sys.modules:
        raise EntryPointError(
            f"The job has pipeline={layout.pipeline}, but the script has taken a step without "
            "session.step(), so each trainer trains the whole model. Call "
            "session.prepare(model, optimizer) and session.step(inputs, targets, loss_fn), or "
            "leave the pipeline out."
        )
    if layout is not None and layout.tensor > 1 and _PARTS not in sys.modules:
        raise EntryPointError(
            f"The job has tensor={layout.tensor}, but the script has taken a step without "
            "session.prepare(), so each trainer trains the whole model. Call "
            "session.prepare(model, optimizer), or leave tensor out."
        )
    if context.rank == 0 and context.world_size > 1 and not torch_distributed.is_initialized():
        num = context.world_size
        say(
            ALONE,
            f"{num} trainers train the same model {num} times: the script has taken a step "
            "and not joined their process group. Call torch.distributed.init_process_group() "
            "and wrap the model, for example in DistributedDataParallel.",
        )


class _OwnStore:
    """The store on rank 0's address, served there through what the agent has bound.

    It is served until the process ends: a group that begins while another ends must not meet
    at the other's store.
    """

    def __init__(self) -> None:
        self._served: Any = None

    def meet(self, number: int, rank: int, world_size: int, timeout: timedelta) -> Any:  # noqa: ANN401  a store
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        bound = os.environ.get(STORE_FD_VARIABLE)
        options = {"timeout": timeout, "wait_for_workers": False}
        if rank == 0 and self._served is None and bound is not None:
            self._served = _stores.TCPStore(
                address,
                port,
                world_size,
                is_master=True,
                master_listen_fd=int(bound),
                **options,
            )
        store = _stores.TCPStore(address, port, world_size, is_master=False, **options)
        return store if number == 0 else _stores.PrefixStore(f"meeting-{number}", store)


def _say_what_is_open(say: Callable[[str, str], None]) -> None:
    size, on_each = int(os.environ["WORLD_SIZE"]), int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    address = os.environ["MASTER_ADDR"]
    if size > on_each and not ipaddress.ip_address(address).is_loopback:
        say("warning", _CLEAR.format(num=-(-size // on_each)))
