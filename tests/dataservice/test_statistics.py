from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.dataservice.client import statistics
from smtc_lab.dataservice.client.statistics import LoaderStatistics
from smtc_lab.dataservice.protocol.messages import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.metrics.records.records import LoaderRecord

DATASET: Any = torch.arange(20, dtype=torch.float32)


def test_batches_are_summed_by_server() -> None:
    records: list[LoaderRecord] = []
    counted = LoaderStatistics(records.append)
    counted.add_batch(Answer(None, None, "algo-2", 100, 0.5, 0.125), 0.25, was_ready=True)
    counted.add_batch(Answer(None, None, "algo-2", 50, 1.5), 0.5, was_ready=False)
    counted.add_batch(Answer(None, None, "local", 1, 0.0), 0.0, was_ready=False)
    counted.add_sent_again({"algo-3": 2})

    counted.hand_over()

    by_server = {record.server: record for record in records}
    algo_2 = by_server["algo-2"]
    assert (algo_2.batches, algo_2.received_bytes) == (2, 150)
    assert (algo_2.get_wait_s, algo_2.worker_busy_s) == pytest.approx((0.75, 2.0))
    assert (algo_2.put_wait_s, algo_2.queue_occupancy) == (0.125, 0.5)
    assert (by_server["local"].batches, by_server["algo-3"].requests_sent_again) == (1, 2)


def test_what_was_recorded_is_not_recorded_again() -> None:
    records: list[LoaderRecord] = []
    counted = LoaderStatistics(records.append)
    counted.add_batch(Answer(None, None, "local", 1, 0.0), 0.0, was_ready=False)
    counted.hand_over()

    counted.hand_over()

    assert len(records) == 1


def test_records_are_due_after_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(statistics.time, "monotonic", lambda: now_s)
    counted = LoaderStatistics(None)
    assert not counted.is_due()

    now_s += statistics.INTERVAL_S

    assert counted.is_due()


def test_every_batch_and_byte_of_an_epoch_is_recorded(place: Callable[..., Any]) -> None:
    records: list[LoaderRecord] = []
    loader = place(DATASET, batch_size=4)
    loader.record = records.append

    list(loader)
    loader.close()

    assert sum(record.batches for record in records) == 5
    assert {record.server for record in records} <= {"local", "algo-2", "algo-3"}
    in_trainer = not loader.servers and not loader.num_local_workers
    assert sum(record.received_bytes for record in records) == (0 if in_trainer else 80)
