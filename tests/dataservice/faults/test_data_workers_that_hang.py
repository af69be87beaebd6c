"""Data workers and servers that stop, or are much slower than others: F5 and F12."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING

import psutil
import pytest
import torch
from torch.utils.data import get_worker_info

from smtc_lab.errors import DataServiceError
from tests.dataservice.faults.trial import Frozen, Noisy, undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.trial import Trial

    Thaw = Callable[[], None]

NUM_SAMPLES = 160


class Uneven(Noisy):
    """Data worker 0 needs 20 times as long for a sample as the others."""

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        info = get_worker_info()
        factor = 20 if info is not None and info.id == 0 else 1
        time.sleep(factor * self.work_s if info is not None else 0)
        return index, torch.rand(3)


@pytest.fixture
def freeze(serve: Callable[..., RunningServer]) -> Iterator[Callable[[RunningServer], Thaw]]:
    """Stop servers and all their processes, as machines that hang; all go on at the end."""
    assert serve  # they must still be there when they are to go on
    frozen: list[int] = []

    def signalled(pids: Sequence[int], number: int) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(server: RunningServer) -> Thaw:
        pids = [server.pid, *server.house_pids(), *server.data_worker_pids()]
        signalled(pids, signal.SIGSTOP)
        frozen.extend(pids)
        return functools.partial(signalled, pids, signal.SIGCONT)

    yield stop
    signalled(frozen, signal.SIGCONT)


@pytest.mark.parametrize("where", ["trainer", "server"])
def test_requests_of_a_data_worker_that_hangs_go_elsewhere(
    tmp_path: Path, serve: Callable[..., RunningServer], begin: Callable[..., Trial], where: str
) -> None:
    frozen = tmp_path / "frozen"
    dataset = Frozen(NUM_SAMPLES, frozen, sample=undisturbed(Noisy(NUM_SAMPLES))[20][0][0])
    if where == "server":
        trial = begin(dataset, [serve().address])
    else:
        trial = begin(dataset, num_local_workers=2)

    for _ in trial:
        pass

    assert frozen.exists()
    trial.judge()
    assert trial.count("sent") > NUM_SAMPLES // 4


def test_requests_of_a_server_that_hangs_go_elsewhere(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    freeze: Callable[[RunningServer], Thaw],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    hung, other = (serve(name=f"algo-{n}") for n in (2, 3))
    trial = begin(dataset, [hung.address, other.address])

    is_frozen = False
    while not trial.told("algo-2", "has not answered"):
        for _ in trial:
            # not before it serves: nobody waits for one that never did
            if not is_frozen and trial.count("answered", "algo-2") > 3:
                freeze(hung)
                is_frozen = True

    trial.judge()


def test_a_server_that_hung_and_goes_on_is_late_once_and_does_its_share_again(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    freeze: Callable[[RunningServer], Thaw],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    hung, other = (serve(name=f"algo-{n}") for n in (2, 3))
    trial = begin(dataset, [hung.address, other.address])
    thaw: Thaw | None = None
    before: int | None = None

    while (
        before is None
        or trial.count("dropped", "algo-2") == 0
        or trial.count("answered", "algo-2") == before
    ):
        for _ in trial:
            if thaw is None and trial.count("answered", "algo-2") > 3:
                thaw = freeze(hung)
            elif thaw and before is None and trial.count("sent") > trial.count("asked"):
                before = trial.count("answered", "algo-2")
                thaw()

    trial.judge()


def test_the_only_server_hangs_for_good(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    freeze: Callable[[RunningServer], Thaw],
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address], timeout=5)
    steps = iter(trial)
    for _ in range(12):
        next(steps)

    freeze(server)
    torchs_words = r"DataLoader timed out after \d+ seconds"
    with pytest.raises(RuntimeError, match=rf"{torchs_words}.*did not come within timeout=5"):
        list(steps)

    assert trial.got == undisturbed(dataset)[: len(trial.got)]


@pytest.mark.parametrize("where", ["trainer", "server"])
def test_a_data_worker_that_is_20_times_slower_gets_less(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial], where: str
) -> None:
    dataset = Uneven(NUM_SAMPLES, work_s=0.01)
    if where == "server":
        trial = begin(dataset, [serve().address], num_workers=2)
    else:
        trial = begin(dataset, num_local_workers=2, num_workers=2)

    for _ in trial:
        pass

    trial.judge()
    order = [event["data_worker"] for event in trial.journal if event["what"] == "answered"]
    assert len(order) == NUM_SAMPLES // 4
    answers = Counter(order[order.index(1) :])  # the quick one may begin much later
    assert answers[0] < 0.25 * answers[1]


def test_no_data_worker_that_hangs_outlives_its_loader(
    tmp_path: Path, begin: Callable[..., Trial]
) -> None:
    frozen = tmp_path / "frozen"
    dataset = Frozen(NUM_SAMPLES, frozen, sample=undisturbed(Noisy(NUM_SAMPLES))[3][0][0])
    trial = begin(dataset, num_local_workers=1, timeout=5)

    steps = iter(trial)
    next(steps)
    (pid,) = trial.local_pids()
    with pytest.raises(DataServiceError, match=r"Batch 3 did not come within timeout"):
        list(steps)
    trial.loader.close()

    assert not psutil.pid_exists(pid)
