"""Streams of iterable-style datasets live where there is time for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import IterableDataset, get_worker_info

from smtc_lab.dataservice.client.epoch import Epoch
from smtc_lab.dataservice.client.ledger import Ledger
from smtc_lab.dataservice.client.statistics import LOCAL
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.protocol.messages import Answer
from smtc_lab.errors import SampleError
from tests.dataservice.ledger_kit import FakeLink, delivered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def ask(ledger: Ledger, epoch: Epoch, *streams: int) -> None:
    ledger.ask(epoch, [(lambda _: [], None, stream) for stream in streams])


def workers(ledger: Ledger, *servers: str) -> list[FakeLink]:
    links = [FakeLink(ledger, server) for server in servers]
    for link in links:
        ledger.attach(link)
    return links


def test_streams_begin_on_data_servers_and_spread_over_them() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    own, first, same, other = workers(ledger, LOCAL, "algo-2", "algo-2", "algo-3")

    ask(ledger, epoch, 0, 1, 2)

    assert own.sent == []
    assert sorted([*first.sent, *same.sent, *other.sent]) == [0, 1, 2]
    assert other.sent in ([0], [1])


def test_a_stream_moves_from_the_trainer_to_a_data_worker_that_joins_later() -> None:
    ledger, epoch = Ledger(credits_per_link=4), Epoch(in_order=True)
    (own,) = workers(ledger, LOCAL)
    ask(ledger, epoch, 0, 0)
    (remote,) = workers(ledger, "algo-2")

    own.answer()
    ask(ledger, epoch, 0)
    assert own.sent == [0, 1, 2]
    assert remote.sent == [1, 2]  # the newest batch and those behind it, as a second one
    remote.answer(busy_s=9.0)
    ask(ledger, epoch, 0)
    for _ in range(2):
        own.answer()
        remote.answer(busy_s=0.5)

    assert remote.sent == [1, 2, 3]
    assert own.sent == [0, 1, 2]
    assert delivered(epoch) == [0, 1, 2, 3]  # twice made, once delivered
    # What it took to come to its position is no measure of its speed.
    assert remote.mean_busy_s == 0.5


def test_a_stream_does_not_move_to_a_data_worker_that_cannot_keep_up() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    (own,) = workers(ledger, LOCAL)
    ask(ledger, epoch, 0, 0)
    (slow,) = workers(ledger, "algo-2")
    own.answer()
    for _ in range(6):
        ask(ledger, epoch, 0)
        own.answer()

    slow.answer()
    slow.answer()
    ask(ledger, epoch, 0, 0)

    assert own.sent == list(range(9))
    assert slow.sent == [1, 2, 7, 8]  # it tries again with what is newest
    assert delivered(epoch) == list(range(7))


def test_a_failure_on_the_way_to_a_position_is_no_failure_of_the_batch() -> None:
    ledger, epoch = Ledger(credits_per_link=4), Epoch(in_order=True)
    (own,) = workers(ledger, LOCAL)
    ask(ledger, epoch, 0, 0)
    (remote,) = workers(ledger, "algo-2")
    own.answer()
    error = SampleError("sample 0 was told of before")

    ledger.settle(remote, 1, Answer(None, error, "algo-2", 0, 1.0))
    own.answer()
    ask(ledger, epoch, 0)

    assert delivered(epoch) == [0, 1]
    assert remote.sent == [1]


def test_a_try_goes_on_when_the_stream_loses_its_data_worker() -> None:
    ledger, epoch = Ledger(credits_per_link=4), Epoch(in_order=True)
    (own,) = workers(ledger, LOCAL)
    ask(ledger, epoch, 0, 0)
    (remote,) = workers(ledger, "algo-2")
    own.answer()
    ledger.detach(own)

    remote.answer()
    ask(ledger, epoch, 0)
    remote.answer()

    assert remote.sent == [1, 2]
    assert delivered(epoch) == [0, 1, 2]


def test_a_data_worker_with_a_stream_takes_another_only_if_it_is_quick_enough() -> None:
    ledger, epoch = Ledger(credits_per_link=4), Epoch(in_order=True)
    own, remote = workers(ledger, LOCAL, "algo-2")
    own.mean_busy_s = 0.06
    for seconds, moves in ((0.05, False), (0.001, True)):
        remote.mean_busy_s = seconds
        epoch = Epoch(in_order=True)
        homes = ledger._homes.of(epoch)
        homes._homes = {0: own, 1: remote}
        before = len(remote.sent)
        ask(ledger, epoch, 0)

        assert (len(remote.sent) > before) == moves
        while own.outstanding:
            own.answer(busy_s=0.06)
        while remote.outstanding:
            remote.answer(busy_s=seconds)


class Numbers(IterableDataset[Any]):
    """Each stream has every n-th number."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 400, step))


def test_a_data_server_makes_the_batches_of_a_loader_with_workers_of_its_own(
    serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    options: dict[str, Any] = {"batch_size": 2, "num_workers": 2}
    theirs = [batch.tolist() for batch in TorchDataLoader(Numbers(), **options)]
    server = serve()
    answered: list[str] = []
    loader = DataLoader(
        Numbers(),
        **options,
        servers=[server.address],
        secret=secret,
        journal=lambda told: (
            answered.append(told["server"]) if told["what"] == "answered" else None
        ),
    )

    assert [batch.tolist() for batch in loader] == theirs
    client = loader._client
    assert client is not None
    eventually(lambda: client.ledger.crew.num_remote == 2)
    answered.clear()
    assert [batch.tolist() for batch in loader] == theirs

    assert answered.count("algo-2") > 0.9 * len(answered)
    loader.close()
