"""Ray's object store: an actor on one node makes batches, the driver on another gets them."""

from __future__ import annotations

import itertools
import os
from collections import deque
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.dataservice.payloads import ReadyBatches
from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, Peer
from notebooks.benchmarks.dataservice.peers.views import batch_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload

_IN_FLIGHT = 2
_DATA_NODE = "data_node"
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Without it Ray looks for nodes at 127.0.0.1 under this machine's address in a network,
    # where they do not listen. Its name is about the systems where this is the default.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # The stores' first touch of their memory is start-up, not delivery.
    "RAY_preallocate_plasma_memory": "1",
}
_NODE = {"node_ip_address": LOOPBACK, "num_cpus": 1, "object_store_memory": 2 * 2**30}


class _BatchMaker:
    def __init__(self, payload: Payload) -> None:
        self._batches = ReadyBatches(payload)

    def make(self, number: int) -> tuple[object, object]:
        # Ray sends arrays of numpy without a copy on either side, but not torch's tensors.
        images, labels = self._batches[number]
        return images.numpy(), labels.numpy()


@contextmanager
def _deliver(payload: Payload) -> Iterator[Iterator[Batch]]:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    ray = import_module("ray")
    cluster = import_module("ray.cluster_utils").Cluster()
    try:
        cluster.add_node(**_NODE, include_dashboard=False)
        cluster.add_node(**_NODE, resources={_DATA_NODE: 1})
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        maker = ray.remote(resources={_DATA_NODE: 1})(_BatchMaker).remote(payload)
        yield _received(ray, maker, payload)
    finally:
        ray.shutdown()
        cluster.shutdown()


def _received(ray: Any, maker: Any, payload: Payload) -> Iterator[Batch]:  # noqa: ANN401
    asked: deque[Any] = deque()
    for number in itertools.count():
        asked.append(maker.make.remote(number))
        if len(asked) > _IN_FLIGHT:
            images, labels = ray.get(asked.popleft())
            yield batch_view(images, labels, payload)


RAY = Peer(name="ray", deliver=_deliver, modules=("ray",))
"""Ray's object store between two nodes."""
