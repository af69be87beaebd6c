"""The checker finds each way in which a journal can break the promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.dataservice.faults.journal_checker import violations

if TYPE_CHECKING:
    from collections.abc import Sequence

Event = dict[str, Any]


def begun(epoch: int = 0, *, in_order: bool = True) -> Event:
    return {"what": "epoch", "epoch": epoch, "in_order": in_order}


def asked(number: int, *, epoch: int = 0, order: int | None = None) -> Event:
    order = number if order is None else order
    return {
        "what": "asked",
        "epoch": epoch,
        "order": order,
        "number": number,
        "samples": [2 * number, 2 * number + 1],
    }


def sent(number: int, data_worker: int = 0) -> Event:
    return {"what": "sent", "number": number, "server": "algo-2", "data_worker": data_worker}


def answered(number: int, data_worker: int = 0) -> Event:
    return sent(number, data_worker) | {"what": "answered", "is_error": False}


def dropped(number: int, data_worker: int = 0) -> Event:
    return sent(number, data_worker) | {"what": "dropped"}


def lost(*numbers: int, data_worker: int = 0) -> Event:
    return {
        "what": "lost",
        "server": "algo-2",
        "data_worker": data_worker,
        "numbers": list(numbers),
    }


def delivered(number: int, *, epoch: int = 0, order: int | None = None) -> Event:
    order = number if order is None else order
    return {"what": "delivered", "epoch": epoch, "order": order, "number": number}


def ended(epoch: int = 0, *, is_complete: bool = True) -> Event:
    return {"what": "ended", "epoch": epoch, "is_complete": is_complete}


def found(journal: Sequence[Event], **options: Any) -> list[str]:
    return violations(journal, credit_bound=2, **options)


def one(number: int) -> list[Event]:
    return [asked(number), sent(number), answered(number), delivered(number)]


def test_an_undisturbed_epoch_breaks_nothing() -> None:
    journal = [begun(), *one(0), *one(1), ended()]

    assert found(journal, samples=[0, 1, 2, 3], window=1) == []


@pytest.mark.parametrize(
    "journal",
    [
        [
            begun(),
            asked(0),
            sent(0),
            lost(0),
            sent(0, 1),
            answered(0, 1),
            delivered(0),
            ended(),
        ],
        [
            *[begun(), asked(0), sent(0), sent(0, 1), answered(0, 1), delivered(0), dropped(0)],
            ended(),
        ],
        [
            *[begun(), asked(0), sent(0), sent(0, 1), lost(0), answered(0, 1), delivered(0)],
            ended(),
        ],
        [begun(), *one(0), dropped(0), ended()],
        [
            *[begun(in_order=False), asked(0), asked(1), sent(0), sent(1, 1), answered(1, 1)],
            *[delivered(1), answered(0), delivered(0), ended()],
        ],
        [begun(), asked(0), sent(0), ended(is_complete=False), dropped(0)],
        [begun(), asked(0), sent(0), ended(is_complete=False), begun(1), ended(1)],
    ],
    ids=[
        "sent again after a loss",
        "the slower of two is dropped",
        "one of two is lost",
        "a repeated answer is dropped",
        "another order where none is wanted",
        "an answer after a break is dropped",
        "a break with a request open",
    ],
)
def test_a_mended_fault_breaks_nothing(journal: list[Event]) -> None:
    assert found(journal) == []


@pytest.mark.parametrize(
    ("journal", "violation"),
    [
        (
            [begun(), asked(0), sent(0), answered(0), ended()],
            "request 0 of epoch 0 was not delivered",
        ),
        ([begun(), *one(0), delivered(0), ended()], "request 0 was delivered twice"),
        (
            [begun(), asked(0), sent(0), lost(0), delivered(0), ended()],
            "request 0 was delivered, but nobody answered it",
        ),
        (
            [begun(), asked(0), sent(0), lost(0), answered(0), delivered(0), ended()],
            "algo-2 (data worker 0) answered request 0, which it did not hold",
        ),
        (
            [begun(), asked(0), sent(0), answered(0, 1), delivered(0), ended()],
            "algo-2 (data worker 1) answered request 0, which it did not hold",
        ),
        (
            [
                *[begun(), asked(0), sent(0), sent(0, 1), answered(0), answered(0, 1)],
                *[delivered(0), ended()],
            ],
            "two answers to request 0 counted",
        ),
        (
            [
                *[begun(), asked(0), sent(0), dropped(0), sent(0, 1), answered(0, 1)],
                *[delivered(0), ended()],
            ],
            "the first answer to request 0, of algo-2 (data worker 0), was lost",
        ),
        (
            [
                *[begun(), asked(0), asked(1), sent(0), sent(1), answered(1), delivered(1)],
                *[answered(0), delivered(0), ended()],
            ],
            "batch 1 of epoch 0 was delivered as number 0",
        ),
        (
            [begun(), asked(0), sent(0), answered(0), delivered(0, order=1), ended()],
            "request 0 was delivered as batch 1 of epoch 0, but asked as batch 0 of epoch 0",
        ),
        (
            [begun(), *one(0), sent(0, 1), ended()],
            "request 0 was sent to algo-2 (data worker 1) after its answer",
        ),
        (
            [begun(), asked(0), sent(0), sent(0), ended(is_complete=False)],
            "request 0 was sent twice to algo-2 (data worker 0)",
        ),
        (
            [begun(), asked(0), sent(0), sent(0, 1), sent(0, 2), ended(is_complete=False)],
            "request 0 is held by 3 data workers",
        ),
        (
            [
                *[begun(), asked(0), asked(1), asked(2), sent(0), sent(1), sent(2)],
                ended(is_complete=False),
            ],
            "algo-2 (data worker 0) holds 3 requests, but has 2 credits",
        ),
        (
            [begun(), asked(0), lost(0), ended(is_complete=False)],
            "request 0 was lost by algo-2 (data worker 0), which did not hold it",
        ),
        ([begun(), sent(7), ended()], "request 7 was sent, but was never asked"),
        ([begun(), asked(0), asked(0), ended(is_complete=False)], "request 0 was asked twice"),
        (
            [begun(), asked(0, order=1), ended(is_complete=False)],
            "batch 1 of epoch 0 was asked out of turn",
        ),
        ([begun()], "epoch 0 never ended"),
        ([begun(), ended(), ended()], "epoch 0 does not run, but it ended"),
        ([begun(), ended(), begun()], "epoch 0 began twice"),
        (
            [begun(), ended(), asked(0)],
            "epoch 0 does not run, but request 0 was asked",
        ),
        (
            [begun(), asked(0), sent(0), answered(0), ended(is_complete=False), delivered(0)],
            "epoch 0 does not run, but request 0 was delivered",
        ),
        (
            [begun(), asked(0), sent(0), answered(0) | {"is_error": None}],
            "is_error of request 0 is None",
        ),
        ([{"what": "guessed"}], "the event {'what': 'guessed'} is unknown"),
    ],
)
def test_a_broken_promise_is_found(journal: list[Event], violation: str) -> None:
    assert violation in found(journal)


def test_samples_that_the_sampler_did_not_give_are_found() -> None:
    (violation,) = found([begun(), *one(0), ended()], samples=[0, 1, 2])

    assert violation == ("epoch 0 asked for samples [0, 1], but the sampler gave [0, 1, 2]")


def test_too_many_batches_asked_ahead_are_found() -> None:
    journal = [begun(), asked(0), asked(1), ended(is_complete=False)]

    assert found(journal, window=1) == ["2 batches of epoch 0 were asked ahead, but only 1 may"]
