"""The pattern of AWS's PyTorch sample for heterogeneous clusters: queue, protobuf, gRPC.

A process fills a queue from a dataloader; the gRPC server makes a protobuf message of each
batch of the queue, two fields of bytes, and the trainer copies both into tensors.
"""

from __future__ import annotations

import multiprocessing
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from notebooks.benchmarks.dataservice.payloads import DecodedBatches
from notebooks.benchmarks.dataservice.peers.grpc_bytes import METHOD, channel_to, serve_stream
from notebooks.benchmarks.dataservice.peers.peer import Peer, forked_server
from smtc_lab.machine.processes import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.queues import Queue

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload

_QUEUE_LENGTH = 32  # the sample's
_QUEUE_BYTES = 512 * 2**20  # ours: the sample's length would hold 5 GB of the largest payload


@contextmanager
def _deliver(payload: Payload) -> Iterator[Iterator[Batch]]:
    with (
        forked_server(partial(_serve, payload)) as port,
        closing(channel_to(port)) as channel,
    ):
        examples = channel.unary_stream(
            METHOD, response_deserializer=_example_type().FromString
        )(b"")
        yield (
            (
                torch.tensor(np.frombuffer(example.image, payload.dtype)).reshape(
                    payload.shape
                ),
                torch.tensor(np.frombuffer(example.label, np.int64)),
            )
            for example in examples
        )


def _serve(payload: Payload, announce: Callable[[object], None]) -> None:
    context = multiprocessing.get_context("fork")
    length = max(1, min(_QUEUE_LENGTH, _QUEUE_BYTES // payload.num_bytes))
    queue: Queue[tuple[bytes, bytes]] = context.Queue(length)
    context.Process(target=_fill, args=(queue, payload)).start()
    serve_stream(
        partial(_examples, queue), lambda example: bytes(example.SerializeToString()), announce
    )


def _fill(queue: Queue[tuple[bytes, bytes]], payload: Payload) -> None:
    die_with_parent()
    loader: DataLoader[Batch] = DataLoader(
        DecodedBatches(payload),
        batch_size=None,
        num_workers=2,
        # They look for their parent every five seconds only.
        worker_init_fn=lambda _: die_with_parent(),
    )
    for images, labels in loader:
        queue.put((images.numpy().tobytes(), labels.numpy().tobytes()))


def _examples(queue: Queue[tuple[bytes, bytes]]) -> Iterator[object]:
    example_type = _example_type()
    while True:
        image, label = queue.get()
        yield example_type(image=image, label=label)


def _example_type() -> Any:  # noqa: ANN401  made at run time
    """Return ``message Example { bytes image = 1; bytes label = 2; }``, as in the sample."""
    descriptors = import_module("google.protobuf.descriptor_pb2")
    file = descriptors.FileDescriptorProto(
        name="dataset_feed.proto", package="smtc_lab", syntax="proto3"
    )
    message = file.message_type.add(name="Example")
    for number, name in enumerate(("image", "label"), start=1):
        message.field.add(
            name=name,
            number=number,
            type=descriptors.FieldDescriptorProto.TYPE_BYTES,
            label=descriptors.FieldDescriptorProto.LABEL_OPTIONAL,
        )
    pool = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    pool.Add(file)
    return import_module("google.protobuf.message_factory").GetMessageClass(
        pool.FindMessageTypeByName("smtc_lab.Example")
    )


AWS_SAMPLE = Peer(name="aws", deliver=_deliver, modules=("grpc", "google.protobuf"))
"""Queue, protobuf and gRPC."""
