from __future__ import annotations

import signal
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.dataservice.client.crew import credit, losses
from smtc_lab.dataservice.client.epoch import Epoch
from smtc_lab.dataservice.client.ledger import Ledger
from smtc_lab.dataservice.protocol.ended import EndedWorker
from smtc_lab.dataservice.protocol.messages import Answer
from smtc_lab.errors import DataWorkerError, ProtocolError
from tests.dataservice.ledger_kit import FakeLink, ask, delivered


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

    ledger.settle(link, 0, Answer(0, None, "algo-2", 0, 0.0))

    assert delivered(epoch) == []


def test_an_answer_to_what_was_never_asked_is_refused() -> None:
    ledger = Ledger(credits_per_link=1)
    link = FakeLink(ledger)
    ledger.attach(link)

    with pytest.raises(ProtocolError, match="answered request 0, which was never asked"):
        ledger.settle(link, 0, Answer(0, None, "algo-2", 0, 0.0))


def test_a_slow_data_worker_gets_one_request_at_a_time() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    fast, slow = FakeLink(ledger), FakeLink(ledger)
    for link in (fast, slow):
        ledger.attach(link)
    ask(ledger, epoch, 12)
    fast.answer(busy_s=1.0)
    slow.answer(busy_s=5.0)
    slow.answer(busy_s=5.0)

    # at 0, 1 and 3 from the start; by the time that 8 is made here, 4 to 7 are made there
    assert slow.sent == [1, 3, 8]
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


def lose(ledger: Ledger, ended: EndedWorker | None) -> None:
    """Let a data worker that has all requests end; None: nobody knows how."""
    link = FakeLink(ledger)
    ledger.attach(link)
    ledger.detach(link)
    if ended is not None:
        ledger.explain(link, ended)


@pytest.mark.parametrize(
    ("exit_code", "most"),
    [
        (None, losses.MAX_UNKNOWN),
        (3, losses.MAX_CRASHES),
        (-signal.SIGSEGV, losses.MAX_CRASHES),
        (-signal.SIGKILL, losses.MAX_KILLS),
    ],
)
def test_a_request_over_which_data_workers_end_is_given_up(
    exit_code: int | None, most: int
) -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    ended = None if exit_code is None else EndedWorker(pid=7, exit_code=exit_code)
    ask(ledger, epoch, 2)
    for _ in range(most - 1):
        lose(ledger, ended)
    assert not epoch.is_ready()

    lose(ledger, ended)

    _, outcome = epoch.pop()
    assert isinstance(outcome.error, DataWorkerError)
    assert f"{most} data workers ended while they prepared the samples 0" in str(outcome.error)
    assert not epoch.is_ready()


def test_a_data_worker_that_ended_over_nothing_is_held_against_no_request() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    for _ in range(losses.MAX_CRASHES):
        lose(ledger, EndedWorker(pid=7, exit_code=3))

    ask(ledger, epoch, 1)
    link = FakeLink(ledger)
    ledger.attach(link)
    link.answer()

    assert delivered(epoch) == [0]


def test_data_workers_that_are_ended_on_purpose_are_not_held_against_a_request() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    ask(ledger, epoch, 1)
    for _ in range(losses.MAX_UNKNOWN):
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
    epoch = Epoch(in_order=True, pin=lambda outcome: replace(outcome, value=[outcome.value]))
    ledger = Ledger(credits_per_link=1)
    link = FakeLink(ledger)
    ledger.attach(link)
    ask(ledger, epoch, 1)

    link.answer()

    assert delivered(epoch) == [[0]]


def test_a_late_answer_is_asked_for_elsewhere_and_counts_once() -> None:
    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=True)
    late, other = FakeLink(ledger, "algo-2"), FakeLink(ledger, "algo-3")
    for link in (late, other):
        ledger.attach(link)
    ask(ledger, epoch, 2)
    other.answer(busy_s=0.01)

    sent_s = late.outstanding[0].sent_s
    assert ledger.hedge(epoch, sent_s) == credit.LEAST_PATIENCE_S
    assert other.sent == [1]
    ledger.hedge(epoch, sent_s + 10)

    assert other.sent == [1, 0]
    assert ledger.take_sent_again() == {"algo-2": 1}
    other.answer(busy_s=0.01)
    late.answer(busy_s=10.0)
    assert delivered(epoch) == [0, 1]


def test_a_second_answer_is_not_delivered_even_without_order() -> None:
    ledger, epoch = Ledger(credits_per_link=1), Epoch(in_order=False)
    late, other = FakeLink(ledger, "algo-2"), FakeLink(ledger, "algo-3")
    for link in (late, other):
        ledger.attach(link)
    ask(ledger, epoch, 2)
    other.answer(busy_s=0.01)
    ledger.hedge(epoch, time.monotonic() + 10)
    other.answer(busy_s=0.01)
    got = delivered(epoch)

    late.answer(busy_s=10.0)

    assert (got, delivered(epoch)) == ([1, 0], [])


def test_a_data_worker_that_owes_an_answer_is_asked_nothing_and_told_of_once() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    late, other = FakeLink(ledger, "algo-2"), FakeLink(ledger, "algo-3")
    for link in (late, other):
        ledger.attach(link)
    ask(ledger, epoch, 2)
    other.answer(busy_s=0.01)
    now_s = time.monotonic()
    ledger.hedge(epoch, now_s + 10)

    ask(ledger, epoch, 4)

    assert late.sent == [0]
    assert ledger.suspects(now_s + 11, 2.0) == []
    assert ledger.suspects(now_s + 13, 2.0) == [late]
    assert ledger.suspects(now_s + 13, 2.0) == []
    late.answer(busy_s=10.0)
    ask(ledger, epoch, 4)
    assert len(late.sent) > 1


def test_hedging_costs_no_more_than_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credit, "hedges_allowed", lambda _: 1)
    ledger, epoch = Ledger(credits_per_link=4), Epoch(in_order=True)
    late, other = FakeLink(ledger, "algo-2"), FakeLink(ledger, "algo-3")
    ledger.attach(late)
    ask(ledger, epoch, 3)
    ledger.attach(other)

    for seconds in (10, 20, 30):
        ledger.hedge(epoch, time.monotonic() + seconds)

    assert other.sent == [0]


def test_a_stream_stays_with_its_data_worker_for_as_long_as_that_lives() -> None:
    ledger, epoch = Ledger(credits_per_link=4), Epoch(in_order=True)
    links = [FakeLink(ledger), FakeLink(ledger)]
    for link in links:
        ledger.attach(link)

    ledger.ask(epoch, [(lambda _: [], None, which % 2) for which in range(6)])

    assert [link.sent for link in links] == [[0, 2, 4], [1, 3, 5]]
    ledger.detach(links[0])
    assert links[1].sent == [1, 3, 5, 0]
