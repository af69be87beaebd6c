"""Processes, connections and threads end with what they belong to."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

DATASET: Any = list(range(40))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def data_workers(loader: DataLoader[Any]) -> list[int]:
    assert loader._client is not None
    return loader._client.local_pids


@pytest.mark.parametrize("persistent", [True, False])
def test_data_workers_end_when_the_loader_is_gone(
    is_gone: Callable[[int], bool], *, persistent: bool
) -> None:
    loader = DataLoader(DATASET, num_workers=2, persistent_workers=persistent)
    batches = iter(loader)
    next(batches)
    pids = data_workers(loader)

    del loader, batches
    gc.collect()

    assert len(pids) == 2
    assert all(map(is_gone, pids))


def test_a_loader_without_a_name_of_its_own_can_be_iterated_over() -> None:
    assert [batch.item() for batch in DataLoader(DATASET, num_workers=1)] == DATASET


def test_data_workers_of_an_epoch_end_with_it() -> None:
    loader = DataLoader(DATASET, num_workers=2)

    list(loader)

    assert data_workers(loader) == []
    loader.close()


def test_data_workers_of_an_epoch_that_was_broken_off_end_with_it() -> None:
    loader = DataLoader(DATASET, num_workers=2)

    for _ in loader:
        assert len(data_workers(loader)) == 2
        break

    assert data_workers(loader) == []
    loader.close()


def test_persistent_data_workers_live_on() -> None:
    loader = DataLoader(DATASET, num_workers=2, persistent_workers=True)
    list(loader)
    first = data_workers(loader)

    list(loader)

    assert len(first) == 2
    assert data_workers(loader) == first
    loader.close()


def test_data_workers_of_the_next_epoch_see_a_changed_dataset() -> None:
    dataset: Any = [1, 2, 3]
    loader = DataLoader(dataset, num_workers=1)
    list(loader)

    dataset[0] = 9

    assert [batch.item() for batch in loader] == [9, 2, 3]
    loader.close()


def test_nothing_stays_open_after_close(
    serve: Callable[..., Any],
    secret: bytes,
    eventually: Callable[[Callable[[], object]], None],
) -> None:
    server = serve()
    gc.collect()
    files, threads = open_files(), threading.active_count()
    for _ in range(3):
        loader = DataLoader(DATASET, num_workers=1, servers=[server.address], secret=secret)
        next(iter(loader))
        loader.close()
    del loader

    def is_as_before() -> bool:
        gc.collect()
        return (open_files(), threading.active_count()) == (files, threads)

    eventually(is_as_before)  # a thread that gets no CPU time needs longer than close() waits


def test_a_closed_loader_can_be_iterated_over_again() -> None:
    loader = DataLoader(DATASET, num_workers=1)
    batches = iter(loader)
    next(batches)
    loader.close()

    with pytest.raises(DataServiceError, match="closed while it was iterated over"):
        list(batches)
    assert len(list(loader)) == 40
    loader.close()


def test_a_forked_process_that_has_a_loader_disturbs_it_not() -> None:
    loader = DataLoader(DATASET, num_workers=1, persistent_workers=True)
    batches = iter(loader)
    first = next(batches).item()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        del loader, batches
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)

    assert [first, *(batch.item() for batch in batches)] == DATASET
    loader.close()


def _train(pids: Connection, options: Mapping[str, Any]) -> None:
    loader = DataLoader(DATASET, **options)
    batches = iter(loader)
    next(batches)
    pids.send(data_workers(loader))
    signal.pause()


@pytest.fixture
def train() -> Iterator[Callable[..., tuple[ForkProcess, list[int]]]]:
    """Start trainers; each comes with its own data workers, and is gone after the test."""
    trainers: list[ForkProcess] = []
    context = multiprocessing.get_context("fork")

    def start(**options: Any) -> tuple[ForkProcess, list[int]]:
        ours, theirs = context.Pipe()
        trainer = context.Process(target=_train, args=(theirs, options))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            trainer.start()
        trainers.append(trainer)
        with ours, theirs:
            return trainer, ours.recv()

    yield start
    for trainer in trainers:
        trainer.kill()
        trainer.join()


def test_a_killed_trainer_leaves_no_data_worker(
    train: Callable[..., Any], is_gone: Callable[[int], bool], eventually: Callable[..., None]
) -> None:
    trainer, pids = train(num_workers=2)

    trainer.kill()

    assert len(pids) == 2
    eventually(lambda: all(map(is_gone, pids)))


def test_a_killed_trainer_leaves_no_data_worker_on_a_server(
    train: Callable[..., Any], serve: Callable[..., Any], secret: bytes, eventually: Any
) -> None:
    server = serve()
    trainer, _ = train(servers=[server.address], secret=secret)
    eventually(lambda: len(server.data_worker_pids()) == 2)

    trainer.kill()

    eventually(lambda: server.data_worker_pids() == [])
    assert not server.events.poll(0)


def test_a_closed_loader_leaves_no_data_worker_on_a_server(
    serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    server = serve()
    with at_work_on(server, secret) as other:
        eventually(lambda: len(server.data_worker_pids()) == 2)
        with at_work_on(server, secret):
            eventually(lambda: len(server.data_worker_pids()) == 4)
        eventually(lambda: len(server.data_worker_pids()) == 2)

        assert len(list(other)) == len(DATASET) - 1
    eventually(lambda: server.data_worker_pids() == [])
    assert not server.events.poll(0)


@contextlib.contextmanager
def at_work_on(server: Any, secret: bytes) -> Iterator[Iterator[Any]]:
    """Iterate over a loader whose batches a server makes, and close it at the end."""
    loader = DataLoader(DATASET, servers=[server.address], secret=secret)
    batches = iter(loader)
    next(batches)
    yield batches
    loader.close()


def test_a_killed_server_leaves_no_process(
    serve: Callable[..., Any],
    secret: bytes,
    is_gone: Callable[[int], bool],
    eventually: Callable[..., None],
) -> None:
    server = serve(num_data_workers=3)
    with at_work_on(server, secret):
        eventually(lambda: len(server.data_worker_pids()) == 3)
        pids = [*server.house_pids(), *server.data_worker_pids()]

        server.kill()

        eventually(lambda: all(map(is_gone, pids)))


def test_a_stopped_server_leaves_no_process(
    serve: Callable[..., Any],
    secret: bytes,
    is_gone: Callable[[int], bool],
    eventually: Callable[..., None],
) -> None:
    server = serve()
    with at_work_on(server, secret):
        eventually(lambda: len(server.data_worker_pids()) == 2)
        pids = [*server.house_pids(), *server.data_worker_pids()]

        server.process.terminate()
        server.process.join()

        assert server.process.exitcode == 0
        assert all(map(is_gone, pids))


def test_a_script_that_ends_in_the_middle_of_an_epoch_ends_cleanly(
    is_gone: Callable[[int], bool],
) -> None:
    script = """
import os
from smtc_lab.dataservice import DataLoader
class Printing(list):
    def __getitem__(self, index):
        print("preparing", index)
        return super().__getitem__(index)
loader = DataLoader(Printing(range(40)), num_workers=2, persistent_workers=True)
for batch in loader:
    break
first, second = loader._client.local_pids
os.write(1, f"\\npids {first} {second}\\n".encode())
"""

    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "preparing" in ended.stdout
    pids = re.findall(r"(?m)^pids (\d+) (\d+)$", ended.stdout)
    assert len(pids) == 1
    assert all(is_gone(int(pid)) for pid in pids[0])


WITHOUT_PACKERS = """
import sys
sys.modules["cloudpickle"] = sys.modules["xxhash"] = None
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.runtime import data_instance
from smtc_lab.runtime.script import hooks
for workers in (0, 2):
    loader = DataLoader(list(range(8)), batch_size=4, num_workers=workers)
    print([batch.tolist() for batch in loader])
    loader.close()
"""


def test_a_job_without_data_instances_needs_nothing_that_packs() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKERS], capture_output=True, text=True, check=False
    )

    assert ended.stderr == ""
    assert ended.stdout.split("\n")[:2] == ["[[0, 1, 2, 3], [4, 5, 6, 7]]"] * 2
