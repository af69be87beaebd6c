from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.dataservice import ledger as ledger_module
from smtc_lab.dataservice.epoch import Epoch
from smtc_lab.dataservice.ledger import Ledger
from smtc_lab.dataservice.messages import Outcome
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from smtc_lab.dataservice.epoch import Request


class FakeLink:
    """A data worker that answers when the test says so."""

    def __init__(self, ledger: Ledger, server: str = "algo-2") -> None:
        self.ledger = ledger
        self.server = server
        self.outstanding: dict[int, Request] = {}
        self.mean_busy_s: float | None = None
        self.sent: list[int] = []

    def send(self, request: Request) -> None:
        self.sent.append(request.order)

    def answer(self, busy_s: float = 1.0) -> None:
        number, request = next(iter(self.outstanding.items()))
        self.ledger.settle(self, number, Outcome(request.order, None, self.server, 0, busy_s))


def ask(ledger: Ledger, epoch: Epoch, count: int) -> None:
    for _ in range(count):
        ledger.ask(epoch, lambda _: [], f"{epoch.asked}")


def delivered(epoch: Epoch) -> list[object]:
    values = []
    while epoch.is_ready():
        values.append(epoch.pop().value)
    return values


def test_a_data_worker_holds_as_many_requests_as_it_has_credits() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    link = FakeLink(ledger)
    ledger.attach(link)

    ask(ledger, epoch, 5)

    assert link.sent == [0, 1]
    link.answer()
    assert link.sent == [0, 1, 2]


def test_batches_come_in_the_order_in_which_they_were_asked_for() -> None:
    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=True)
    links = [FakeLink(ledger), FakeLink(ledger)]
    for link in links:
        ledger.attach(link)
    ask(ledger, epoch, 2)

    links[1].answer()
    assert delivered(epoch) == []
    links[0].answer()

    assert delivered(epoch) == [0, 1]


def test_batches_without_order_come_as_they_are_ready() -> None:
    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=False)
    links = [FakeLink(ledger), FakeLink(ledger)]
    for link in links:
        ledger.attach(link)
    ask(ledger, epoch, 2)

    links[1].answer()

    assert delivered(epoch) == [1]


def test_requests_of_a_lost_data_worker_are_asked_again_first() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    lost, other = FakeLink(ledger, "algo-2"), FakeLink(ledger, "algo-3")
    ledger.attach(lost)
    ask(ledger, epoch, 4)

    ledger.detach(lost)
    ledger.attach(other)

    assert other.sent == [0, 1]
    assert ledger.take_sent_again() == {"algo-2": 2}
    assert ledger.take_sent_again() == {}


def test_an_answer_of_a_lost_data_worker_is_no_answer() -> None:
    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=True)
    link = FakeLink(ledger)
    ledger.attach(link)
    ask(ledger, epoch, 1)
    ledger.detach(link)

    with pytest.raises(ProtocolError, match="answered request 0, which was not asked of it"):
        ledger.settle(link, 0, Outcome(0, None, "algo-2", 0, 0.0))

    assert delivered(epoch) == []


def test_a_slow_data_worker_gets_one_request_at_a_time() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    fast, slow = FakeLink(ledger), FakeLink(ledger)
    for link in (fast, slow):
        ledger.attach(link)
    ask(ledger, epoch, 8)
    fast.answer(busy_s=1.0)
    slow.answer(busy_s=5.0)
    slow.answer(busy_s=5.0)

    assert len(slow.outstanding) == 1
    assert len(fast.outstanding) == 2


def test_nobody_is_asked_for_a_cancelled_epoch() -> None:
    ledger, epoch, other = (
        Ledger(credits_per_link=1),
        Epoch(in_order=True),
        Epoch(in_order=True),
    )
    ask(ledger, epoch, 3)
    epoch.cancel()
    ask(ledger, other, 1)
    link = FakeLink(ledger)

    ledger.attach(link)

    assert [request.epoch for request in link.outstanding.values()] == [other]


def test_a_request_over_which_many_data_workers_end_is_given_up() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    ask(ledger, epoch, 2)
    for _ in range(ledger_module.MAX_LOSSES):
        link = FakeLink(ledger)
        ledger.attach(link)
        ledger.detach(link)

    outcome = epoch.pop()

    assert isinstance(outcome.error, DataServiceError)
    assert "8 data workers ended while they prepared the samples 0" in str(outcome.error)
    assert not epoch.is_ready()


def test_data_workers_that_are_ended_on_purpose_are_not_held_against_a_request() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    ask(ledger, epoch, 1)
    for _ in range(ledger_module.MAX_LOSSES):
        link = FakeLink(ledger)
        ledger.attach(link)
        ledger.detach(link, failed=False)

    assert not epoch.is_ready()
    assert ledger.take_sent_again() == {}


@given(
    in_order=st.booleans(),
    credit=st.integers(1, 3),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["join", "leave", "answer", "ask", "deliver"]), st.integers(0, 9)
        ),
        max_size=120,
    ),
)
def test_each_batch_is_delivered_exactly_once_whoever_comes_and_goes(
    in_order: bool,  # noqa: FBT001  hypothesis passes it by name
    credit: int,
    steps: list[tuple[str, int]],
) -> None:
    ledger, epoch = Ledger(credits_per_link=credit), Epoch(in_order=in_order)
    links: list[FakeLink] = []
    got: list[object] = []
    for what, which in steps:
        if what == "join":
            links.append(FakeLink(ledger))
            ledger.attach(links[-1])
        elif what == "ask":
            ask(ledger, epoch, which)
        elif what == "deliver":
            got += delivered(epoch)
        elif links and what == "leave":
            ledger.detach(links.pop(which % len(links)), failed=False)
        elif links and links[which % len(links)].outstanding:
            links[which % len(links)].answer()
        assert all(len(link.outstanding) <= credit for link in links)

    last = FakeLink(ledger)
    ledger.attach(last)
    for link in [*links, last]:
        while link.outstanding:
            link.answer()
    while last.outstanding:
        last.answer()
    got += delivered(epoch)

    assert sorted(got, key=str) == sorted(range(epoch.asked), key=str)
    assert not in_order or got == list(range(epoch.asked))


def test_batches_are_pinned_where_they_are_received() -> None:
    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=True, pin=lambda batch: [batch])
    link = FakeLink(ledger)
    ledger.attach(link)
    ask(ledger, epoch, 1)

    link.answer()

    assert delivered(epoch) == [[0]]


def test_a_batch_that_cannot_be_pinned_is_an_error_in_its_place() -> None:
    def pin(_: object) -> object:
        raise RuntimeError("out of pinned memory")

    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=True, pin=pin)
    link = FakeLink(ledger)
    ledger.attach(link)
    ask(ledger, epoch, 1)

    link.answer()

    assert "out of pinned memory). Leave pin_memory out" in str(epoch.pop().error)


def test_a_slow_data_worker_widens_the_window_within_bounds() -> None:
    ledger = Ledger(credits_per_link=2)
    fast, slow = FakeLink("fast"), FakeLink("slow")
    ledger.attach(fast)
    ledger.attach(slow)
    least = ledger.window

    fast.mean_busy_s, slow.mean_busy_s = 0.1, 0.1
    assert ledger.window == least

    slow.mean_busy_s = 1.0
    assert ledger.window == 11 + 2

    slow.mean_busy_s = 1e6
    assert ledger.window == 8 * least
