"""Data workers and servers that end, or are of no use, and what the trainer sees of it.

Faults in the middle of training, judged by an independent checker, are in ``faults/``.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import Dataset

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.placement import ServerAddress
from smtc_lab.errors import DataServiceError, DataWorkerError
from tests.dataservice.killing import kill
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.metrics.records.records import LoaderRecord

pytestmark = pytest.mark.usefixtures("unhurried")
NUM_SAMPLES = 40


class Noisy(Dataset[Any]):
    def __len__(self) -> int:
        return NUM_SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.rand(2)


class Stuck(Noisy):
    """The first process that prepares sample 17 says who it is and never comes back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trainer = os.getpid()

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        if index == 17 and os.getpid() != self.trainer:
            try:
                (self.folder / "stuck").touch(exist_ok=False)
            except FileExistsError:
                return super().__getitem__(index)
            (self.folder / "pid.new").write_text(str(os.getpid()), encoding="ascii")
            (self.folder / "pid.new").rename(self.folder / "pid")
            signal.pause()
        return super().__getitem__(index)

    def stuck_pid(self) -> int | None:
        found = self.folder / "pid"
        return int(found.read_text(encoding="ascii")) if found.exists() else None


class Deadly(Noisy):
    def __init__(self, how: Callable[[int], object] = os._exit) -> None:
        self.how = how

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        if index == 17:
            self.how(3)
        return super().__getitem__(index)


def undisturbed() -> list[tuple[list[int], list[float]]]:
    return [plain(batch) for batch in DataLoader(Noisy(), batch_size=4, seed=1)]


def plain(batch: Any) -> tuple[list[int], list[float]]:
    return batch[0].tolist(), batch[1].flatten().tolist()


def unused_address() -> ServerAddress:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return ServerAddress("127.0.0.1", listener.getsockname()[1])


@pytest.mark.parametrize("persistent", [True, False])
def test_a_killed_data_worker_of_the_trainer_loses_no_sample(
    tmp_path: Path, eventually: Callable[..., None], *, persistent: bool
) -> None:
    dataset, events = Stuck(tmp_path), list[str]()
    loader = DataLoader(
        dataset, 4, num_workers=2, persistent_workers=persistent, seed=1, notify=events.append
    )
    batches = iter(loader)
    got = [plain(next(batches)) for _ in range(4)]
    eventually(dataset.stuck_pid)

    kill(dataset.stuck_pid())  # type: ignore[arg-type]
    got += [plain(batch) for batch in batches]

    assert got == undisturbed()
    assert len(events) == 1
    assert events[0].endswith(
        "of this trainer ended by signal 9 (SIGKILL, often a lack of memory); started again"
    )
    loader.close()


@pytest.mark.parametrize("persistent", [True, False])
def test_a_data_worker_that_ends_after_its_last_batch_is_told_of(*, persistent: bool) -> None:
    events: list[str] = []
    loader = DataLoader(
        Noisy(), 4, num_workers=1, persistent_workers=persistent, notify=events.append
    )
    batches = iter(loader)
    got = [next(batches)[0].tolist() for _ in range(NUM_SAMPLES // 4)]
    (pid,) = loader._client.local_pids  # type: ignore[union-attr]

    # Nothing is received meanwhile, as where the trainer leaves no CPU to that thread.
    with loader._client._parts.reception._receiving:  # type: ignore[union-attr]
        kill(pid)
        got += [batch[0].tolist() for batch in batches]

    assert list(itertools.chain(*got)) == [*range(NUM_SAMPLES)]
    assert len(events) == 1
    assert "of this trainer ended by signal 9" in events[0]
    loader.close()


def test_a_killed_data_worker_of_a_server_loses_no_sample(
    tmp_path: Path, serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    dataset = Stuck(tmp_path)
    records: list[LoaderRecord] = []
    server = serve()
    loader = DataLoader(
        dataset,
        batch_size=4,
        seed=1,
        servers=[server.address],
        secret=secret,
        record=records.append,
    )
    batches = iter(loader)
    got = [plain(next(batches)) for _ in range(4)]
    eventually(dataset.stuck_pid)

    kill(dataset.stuck_pid())  # type: ignore[arg-type]
    got += [plain(batch) for batch in batches]

    assert got == undisturbed()
    event = server.next_event()
    assert event.startswith("data worker ")
    assert event.endswith(
        " on algo-2 ended by signal 9 (SIGKILL, often a lack of memory); started again when it "
        "is asked"
    )
    assert sum(record.requests_sent_again for record in records) >= 1
    assert {record.server for record in records} == {"algo-2"}
    loader.close()


def test_a_killed_server_loses_no_sample_while_another_is_there(
    tmp_path: Path, serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    dataset, events = Stuck(tmp_path), list[str]()
    servers = [serve(name="algo-2"), serve(name="algo-3")]
    loader = DataLoader(
        dataset,
        batch_size=4,
        seed=1,
        servers=[server.address for server in servers],
        secret=secret,
        notify=events.append,
    )
    batches = iter(loader)
    got = [plain(next(batches)) for _ in range(4)]
    eventually(dataset.stuck_pid)

    lost = next(
        server for server in servers if dataset.stuck_pid() in server.data_worker_pids()
    )
    lost.kill()
    got += [plain(batch) for batch in batches]

    assert got == undisturbed()
    assert any(f"data server {lost.address} went away" in event for event in events)
    loader.close()


def iterator_once(loader: DataLoader[Any], why: str) -> Any:
    """Return an iterator of a loader, once it knows why it cannot reach a server."""
    batches = iter(loader)
    wait_until(lambda: why in loader._client._parts.remote.describe(), what=why)  # type: ignore[union-attr]
    return batches


def test_no_server_is_an_error_that_names_the_servers_and_the_remedy(secret: bytes) -> None:
    address = unused_address()
    loader = DataLoader(Noisy(), servers=[address], secret=secret, timeout=0.2)
    batches = iterator_once(loader, "refused")

    with pytest.raises(DataServiceError, match=rf"{address}: .*refused.*num_local_workers"):
        next(batches)
    loader.close()


def test_a_server_that_is_not_there_disturbs_nobody_who_has_data_workers(secret: bytes) -> None:
    servers = [unused_address()]
    loader = DataLoader(Noisy(), 4, seed=1, num_workers=1, servers=servers, secret=secret)

    assert [plain(batch) for batch in loader] == undisturbed()
    loader.close()


def test_another_secret_gets_nothing(serve: Callable[..., Any]) -> None:
    server = serve()
    loader = DataLoader(Noisy(), servers=[server.address], secret=bytes(32), timeout=0.2)
    batches = iterator_once(loader, "another secret")

    with pytest.raises(DataServiceError, match="it holds another secret"):
        next(batches)

    assert "did not prove that it holds this job's secret" in server.next_event()
    loader.close()


@pytest.mark.parametrize("how", [os._exit, signal.raise_signal], ids=["exit", "signal"])
def test_samples_that_end_every_data_worker_are_given_up_as_by_torch(
    how: Callable[[int], object],
) -> None:
    torchs_words = r"DataLoader worker \(pid.*\d+\) (exited unexpectedly|is killed by signal: )"
    with pytest.raises(RuntimeError, match=torchs_words):
        list(TorchDataLoader(Deadly(how), sampler=[17], num_workers=1))

    events: list[str] = []
    loader = DataLoader(Deadly(how), batch_size=4, num_workers=1, notify=events.append)
    batches = iter(loader)
    before = [next(batches)[0].tolist() for _ in range(4)]
    with pytest.raises(
        RuntimeError, match=f"{torchs_words}.* 2 data workers .* samples 16, 17, 18, 19"
    ):
        next(batches)

    after = [batch[0].tolist() for batch in batches]
    assert list(itertools.chain(*before, *after)) == [*range(16), *range(20, 40)]
    assert len(events) == 2
    loader.close()


def test_samples_that_end_data_workers_of_a_server_are_given_up_soon(
    serve: Callable[..., Any], secret: bytes
) -> None:
    server = serve()
    servers = [server.address]
    loader = DataLoader(Deadly(), 4, servers=servers, secret=secret)

    # How one ended is known when its successor says so; the other one may be asked meanwhile.
    with pytest.raises(
        DataWorkerError,
        match=r"with exit code 3\. [234] data workers .* samples 16, 17, 18, 19",
    ):
        list(loader)

    assert "ended with exit code 3" in server.next_event()
    loader.close()
