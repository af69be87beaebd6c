"""Data workers and servers that are killed: F1 and F2."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import DataServiceError
from tests.dataservice.faults.journal_checker import violations
from tests.dataservice.faults.trial import Noisy, order_of, undisturbed
from tests.dataservice.killing import kill

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.trial import Trial

pytestmark = pytest.mark.usefixtures("unhurried")
NUM_SAMPLES = 160
LAST = NUM_SAMPLES // 4 - 1


@pytest.mark.parametrize("at", [0, 1, 20, LAST - 2, LAST])
@pytest.mark.parametrize("where", ["trainer", "server"])
def test_one_of_two_data_workers_is_killed(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    eventually: Callable[..., None],
    where: str,
    at: int,
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    if where == "server":
        server = serve()
        trial = begin(dataset, [server.address])
    else:
        trial = begin(dataset, num_local_workers=2, persistent_workers=True)
    pids = server.data_worker_pids if where == "server" else trial.local_pids

    for step in trial:
        if step == at:
            eventually(lambda: len(pids()) == 2)
            kill(pids()[at % 2])
    while trial.epochs < 2 or len(trial.holders()) < 2:  # until both were asked for something
        for _ in trial:
            pass

    trial.judge()
    told = [server.next_event()] if where == "server" else trial.events
    assert any("ended by signal 9 (SIGKILL" in event for event in told)
    assert len(trial.holders()) == 2


def test_all_data_workers_of_the_only_server_are_killed_and_come_back(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    eventually: Callable[..., None],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address])

    for step in trial:
        if step == 12:
            eventually(lambda: len(server.data_worker_pids()) == 2)
            for pid in server.data_worker_pids():
                os.kill(pid, signal.SIGKILL)

    trial.judge()
    assert {server.next_event()[:13], server.next_event()[:13]} == {
        "data worker 0",
        "data worker 1",
    }
    assert trial.told(str(server.address), "went away")
    assert trial.told("algo-2", "is back")


def test_the_only_server_is_killed_and_comes_back(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address])

    for step in trial:
        if step == 12:
            server.kill()
            serve(port=server.address.port)

    trial.judge()
    assert trial.told(str(server.address), "went away")
    assert trial.told("algo-2", "is back")


def test_the_only_server_is_killed_for_good(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address], timeout=5)

    steps = iter(trial)
    for _ in range(12):
        next(steps)

    server.kill()
    with pytest.raises(DataServiceError, match=rf"{server.address}: .*num_local_workers"):
        list(steps)

    assert trial.got == undisturbed(dataset)[: len(trial.got)]
    assert trial.told(str(server.address), "went away")


def test_a_server_that_is_killed_for_good_is_replaced_by_one_that_joins_late(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    first, second = (serve(name=f"algo-{n}") for n in (2, 3))
    second.kill()
    trial = begin(dataset, [first.address, second.address])

    for step in trial:
        if step == 6:
            serve(name="algo-3", port=second.address.port)
            first.kill()

    trial.judge()
    assert {server for server, _ in trial.holders()} == {"algo-2", "algo-3"}


def test_without_an_order_no_batch_is_lost_either(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    eventually: Callable[..., None],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address], num_local_workers=1, in_order=False)

    for step in trial:
        if step == 12:
            eventually(server.data_worker_pids)
            os.kill(server.data_worker_pids()[0], signal.SIGKILL)
            os.kill(trial.local_pids()[0], signal.SIGKILL)

    trial.judge()


def test_an_epoch_that_is_broken_off_in_a_fault_leaves_nothing_to_the_next_one(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    eventually: Callable[..., None],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address], num_local_workers=1)

    for _ in trial:
        eventually(server.data_worker_pids)
        os.kill(server.data_worker_pids()[0], signal.SIGKILL)
        break
    trial.got.clear()
    for _ in trial:
        pass

    broken_off = next(event for event in trial.journal if event["what"] == "ended")
    assert broken_off == {"what": "ended", "epoch": 0, "is_complete": False}
    assert trial.got == undisturbed(dataset, epochs=2)[len(trial.got) :]
    trial.loader.close()
    assert not violations(
        trial.journal, credit_bound=trial.credit_bound, samples=order_of(dataset)
    )
