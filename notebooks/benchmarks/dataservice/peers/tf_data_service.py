"""tf.data service: dispatcher and worker in a process of their own, no compression."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from torch.utils.dlpack import from_dlpack

from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, Peer, forked_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload


@contextmanager
def _deliver(payload: Payload) -> Iterator[Iterator[Batch]]:
    with forked_server(_serve) as target:
        tensorflow = _tensorflow()
        service = tensorflow.data.experimental.service
        dataset = _ready_batches(tensorflow, payload).apply(
            service.distribute(
                processing_mode=service.ShardingPolicy.OFF, service=target, compression=None
            )
        )
        to_torch = partial(_to_torch, tensorflow.experimental.dlpack.to_dlpack)
        yield map(to_torch, dataset)


def _to_torch(to_dlpack: Callable[[object], object], batch: tuple[object, object]) -> Batch:
    images, labels = (from_dlpack(to_dlpack(part)) for part in batch)
    return images, labels


def _ready_batches(tensorflow: Any, payload: Payload) -> Any:  # noqa: ANN401  no types
    """Return the dataset; the worker makes the images of a turn once and keeps them."""
    data = tensorflow.data.Dataset
    images = data.range(payload.num_distinct).map(
        lambda turn: tensorflow.fill(
            payload.shape, tensorflow.cast((turn * 7 + 1) % 251, payload.dtype)
        )
    )
    labels = data.counter().map(
        lambda number: tensorflow.pad(number[None], [[0, payload.num_labels - 1]])
    )
    return data.zip(images.cache().repeat(), labels)


def _serve(announce: Callable[[object], None]) -> None:
    service = _tensorflow().data.experimental.service
    dispatcher = service.DispatchServer(service.DispatcherConfig(port=0))
    address = dispatcher.target.removeprefix("grpc://").replace("localhost", LOOPBACK)
    worker = service.WorkerServer(
        service.WorkerConfig(dispatcher_address=address, worker_address=f"{LOOPBACK}:%port%")
    )
    announce(f"grpc://{address}")
    worker.join()


def _tensorflow() -> Any:  # noqa: ANN401  no types
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    return import_module("tensorflow")


TF_DATA = Peer(name="tf_data", deliver=_deliver, modules=("tensorflow",))
"""tf.data service."""
