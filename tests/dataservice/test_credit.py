from __future__ import annotations

from smtc_lab.dataservice.client.crew import credit
from smtc_lab.dataservice.client.epoch import Epoch
from smtc_lab.dataservice.client.ledger import Ledger
from tests.dataservice.ledger_kit import FakeLink, ask


def test_many_small_fast_batches_are_asked_for_ahead_and_few_large_ones() -> None:
    links = [FakeLink(Ledger()) for _ in range(2)]
    links[0].mean_busy_s = links[1].mean_busy_s = 1e-5

    assert credit.shares(links, None, 100) == [32, 32]
    assert credit.shares(links, None, 2**20) == [4, 4]
    assert credit.shares(links, None, 2**28) == [2, 2]
    assert credit.shares(links, 5, 100) == [5, 5]
    links[0].mean_busy_s = links[1].mean_busy_s = 1.0
    assert credit.shares(links, None, 100) == [2, 2]


def test_only_quick_data_workers_get_lumps_and_large_batches_come_one_by_one() -> None:
    assert credit.lump(None, 100) == 0
    assert credit.lump(1e-5, 100) == 16
    assert credit.lump(1e-3, 100) == 4
    assert credit.lump(1.0, 100) == 1
    assert credit.lump(1e-5, 2**22) == 1


def test_one_of_many_quick_data_workers_gets_a_lump_within_the_window() -> None:
    ledger, epoch = Ledger(), Epoch(in_order=True)
    links = [FakeLink(ledger) for _ in range(64)]
    for link in links:
        ledger.attach(link)
    ask(ledger, epoch, 128)
    for link in links:
        while link.outstanding:
            link.answer(busy_s=1e-5)

    ask(ledger, epoch, 20)

    assert sorted(len(link.outstanding) for link in links)[-3:] == [0, 4, 16]
    assert ledger.crew.window == 2 * 64 + 64


def test_a_fixed_number_of_requests_is_not_raised_to_a_lump() -> None:
    ledger, epoch = Ledger(credits_per_link=3), Epoch(in_order=True)
    link = FakeLink(ledger)
    ledger.attach(link)
    ask(ledger, epoch, 3)
    for _ in range(3):
        link.answer(busy_s=1e-5)

    ask(ledger, epoch, 20)

    assert len(link.outstanding) == 3


def test_a_data_worker_that_once_waited_for_a_processor_counts_as_quick() -> None:
    ledger, epoch = Ledger(), Epoch(in_order=True)
    link = FakeLink(ledger)
    ledger.attach(link)

    for busy_s in (0.01, *[1e-5] * 7, 0.01):
        ask(ledger, epoch, 1)
        link.answer(busy_s=busy_s)

    assert link.mean_busy_s is not None
    assert link.mean_busy_s < 0.001


def test_the_first_batch_of_a_data_worker_does_not_tell_that_it_is_slow() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    quick, beginner = FakeLink(ledger), FakeLink(ledger)
    for link in (quick, beginner):
        ledger.attach(link)
    least = ledger.crew.window
    windows: list[int] = []

    for busy_s in (0.3, 0.003, 0.003):
        ask(ledger, epoch, 4)
        for link, its_s in ((quick, 0.003), (beginner, busy_s)):
            link.answer(busy_s=its_s)
            windows.append(ledger.crew.window)

    assert max(windows) == least
    assert beginner.mean_busy_s == 0.003


def test_a_data_worker_that_stays_slow_widens_the_window_from_its_second_batch_on() -> None:
    ledger, epoch = Ledger(credits_per_link=2), Epoch(in_order=True)
    quick, slow = FakeLink(ledger), FakeLink(ledger)
    for link in (quick, slow):
        ledger.attach(link)
    least = ledger.crew.window

    for _ in range(2):
        ask(ledger, epoch, 4)
        quick.answer(busy_s=0.1)
        slow.answer(busy_s=1.0)

    assert ledger.crew.window > least


def test_a_slow_data_worker_widens_the_window_within_bounds() -> None:
    links = [FakeLink(Ledger()), FakeLink(Ledger())]
    least = credit.window(links, [2, 2], 0)
    assert least == 6

    links[0].mean_busy_s, links[1].mean_busy_s = 1e-5, 0.0015
    assert credit.window(links, [2, 2], 0) == least

    links[0].mean_busy_s = links[1].mean_busy_s = 0.1
    assert credit.window(links, [2, 2], 0) == least

    links[1].mean_busy_s = 1.0
    assert credit.window(links, [2, 2], 0) == 11 + 2

    links[1].mean_busy_s = 1e6
    assert credit.window(links, [2, 2], 0) == 8 * least
    assert credit.window(links, [2, 2], 2**26) == least
