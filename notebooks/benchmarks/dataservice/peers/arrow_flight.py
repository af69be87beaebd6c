"""Arrow Flight: a stream of record batches of one row, two columns of bytes."""

from __future__ import annotations

import itertools
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.dataservice.payloads import ReadyBatches
from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, Peer, forked_server
from notebooks.benchmarks.dataservice.peers.views import batch_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload


@contextmanager
def _deliver(payload: Payload) -> Iterator[Iterator[Batch]]:
    with forked_server(partial(_serve, payload)) as port:
        flight = import_module("pyarrow.flight")
        with closing(flight.connect(f"grpc://{LOOPBACK}:{port}")) as client:
            reader = client.do_get(flight.Ticket(b""))
            yield _received(reader, payload)


def _received(reader: Any, payload: Payload) -> Iterator[Batch]:  # noqa: ANN401  no types
    for chunk in reader:
        # A column's first buffer says which of its values are missing.
        (_, images), (_, labels) = (column.buffers() for column in chunk.data.columns)
        yield batch_view(memoryview(images), memoryview(labels), payload)


def _serve(payload: Payload, announce: Callable[[object], None]) -> None:
    arrow, flight = import_module("pyarrow"), import_module("pyarrow.flight")
    schema = arrow.schema(
        {
            "images": arrow.binary(payload.num_image_bytes),
            "labels": arrow.binary(payload.num_label_bytes),
        }
    )

    def do_get(_server: object, _context: object, _ticket: object) -> object:
        return flight.GeneratorStream(schema, _record_batches(arrow, schema, payload))

    server = type("Server", (flight.FlightServerBase,), {"do_get": do_get})(
        f"grpc://{LOOPBACK}:0"
    )
    announce(server.port)
    server.serve()


def _record_batches(arrow: Any, schema: Any, payload: Payload) -> Iterator[Any]:  # noqa: ANN401
    batches = ReadyBatches(payload)
    for number in itertools.count():
        columns = [
            arrow.Array.from_buffers(field.type, 1, [None, arrow.py_buffer(tensor.numpy())])
            for field, tensor in zip(schema, batches[number], strict=True)
        ]
        yield arrow.record_batch(columns, schema=schema)


FLIGHT = Peer(name="flight", deliver=_deliver, modules=("pyarrow.flight",))
"""Arrow Flight, ``DoGet``."""
