from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from smtc_lab.dataservice.client import spare_cpu
from smtc_lab.dataservice.client.spare_cpu import CpuUse, CpuWatch, own_cores
from smtc_lab.machine.cores import available_cores
from smtc_lab.machine.quota.cgroups import remove_leftover_groups
from smtc_lab.machine.quota.cpu_quota import open_quota
from smtc_lab.machine.quota.members import QUOTA_VARIABLE
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

    from smtc_lab.dataservice.client.sharing import Period

FORK = multiprocessing.get_context("fork")
SPIN_CPU_S = 0.2


@contextlib.contextmanager
def child_process(target: Callable[[Connection], None]) -> Iterator[tuple[int, Connection]]:
    """Yield the process id of a forked process, and the other end of what it was given."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=target, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    assert process.pid is not None
    try:
        yield process.pid, ours
    finally:
        process.kill()
        process.join()
        ours.close()


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def observe(watch: CpuWatch, *local_pids: int) -> Period:
    return watch.observe(
        local_pids=local_pids, get_wait_s=0.25, local_busy_s=0.5, num_remote_workers=3
    )


def spin() -> None:
    until_s = time.thread_time() + SPIN_CPU_S
    while time.thread_time() < until_s:
        pass


def spin_for_ever(told: Connection) -> None:
    told.send("begun")
    while True:
        pass


def spin_in_a_thread_when_told(told: Connection) -> None:
    while True:
        told.recv()
        thread = threading.Thread(target=spin)
        thread.start()
        thread.join()
        told.send("done")


def wait_for(said: Connection) -> None:
    assert said.poll(PATIENCE_S), "the process said nothing"
    said.recv()


def watch_of(*looks: CpuUse) -> CpuWatch:
    """Return a watch that sees what the test says, look after look."""
    left = iter(looks)
    return CpuWatch([], look=lambda _: next(left))


def test_what_was_used_in_an_interval_is_told_by_its_length() -> None:
    watch = watch_of(
        CpuUse(time_s=10.0, thread_id=1, delay_s=2.0, used_s=5.0, local_s={7: 1.0, 8: 3.0}),
        CpuUse(time_s=12.0, thread_id=1, delay_s=2.5, used_s=6.0, local_s={7: 2.5, 9: 4.0}),
        CpuUse(time_s=16.0, thread_id=1, delay_s=2.5, used_s=7.0, local_s={7: 2.5, 9: 5.0}),
    )

    busy, waiting = observe(watch), observe(watch)

    assert (busy.interval_s, busy.trainer_delay_s, busy.delay_fraction) == (2.0, 0.5, 0.25)
    assert (busy.trainer_cores, busy.local_cores) == (0.5, 0.75)  # 8 went, and 9 came
    assert (waiting.interval_s, waiting.delay_fraction) == (4.0, 0.0)
    assert (waiting.trainer_cores, waiting.local_cores) == (0.25, 0.25)


def test_a_busy_process_on_the_same_core_holds_the_trainer_up() -> None:
    with on_one_core(), child_process(spin_for_ever) as (pid, said):
        wait_for(said)
        watch = CpuWatch([pid])
        spin()
        seen = observe(watch, pid)

    assert seen.delay_fraction > 0.1
    assert seen.trainer_delay_s is not None
    assert seen.trainer_delay_s <= seen.interval_s
    assert seen.local_cores > 0.3 * seen.trainer_cores > 0  # the core is shared fairly


def test_a_trainer_that_waits_is_not_held_up() -> None:
    with on_one_core():
        watch = CpuWatch([])
        threading.Event().wait(0.3)
        seen = observe(watch)

    assert seen.delay_fraction < 0.3
    assert seen.trainer_cores < 0.5
    assert seen.local_cores == 0


def hold_back_by_quota(told: Connection) -> None:
    quota = open_quota(f"test-{os.getpid()}-spare-cpu")
    told.send(quota.name)
    if quota.name.startswith("cgroup"):
        quota.join()
        quota.limit(0.2)
        watch = CpuWatch([])
        spin()
        told.send(observe(watch).delay_fraction)
    told.recv()


def test_a_quota_holds_the_trainer_up_as_others_do() -> None:
    with child_process(hold_back_by_quota) as (pid, said):
        assert said.poll(PATIENCE_S)
        name = said.recv()
        if not name.startswith("cgroup"):
            pytest.skip(f"control groups do not work on this machine: {name}")
        assert said.poll(PATIENCE_S)
        delay_fraction = said.recv()
    remove_leftover_groups(f"test-{pid}-spare-cpu")

    assert delay_fraction > 0.3


def test_all_threads_of_a_data_worker_count() -> None:
    with child_process(spin_in_a_thread_when_told) as (pid, said):
        watch = CpuWatch([pid])
        said.send("spin")
        wait_for(said)
        seen = observe(watch, pid)

    assert seen.local_cores * seen.interval_s >= SPIN_CPU_S
    assert seen.trainer_cores * seen.interval_s < SPIN_CPU_S


def test_data_workers_that_come_or_go_do_not_count() -> None:
    with child_process(spin_in_a_thread_when_told) as (pid, said):
        watch = CpuWatch([])
        said.send("spin")
        wait_for(said)
        assert observe(watch, pid).local_cores == 0

    assert observe(watch, pid).local_cores == 0


def test_what_it_is_told_is_in_the_observation() -> None:
    seen = observe(CpuWatch([]))

    assert (seen.get_wait_s, seen.local_busy_s, seen.num_remote_workers) == (0.25, 0.5, 3)
    assert seen.cores == own_cores()


def test_the_delay_of_another_thread_is_unknown() -> None:
    watches: list[CpuWatch] = []
    thread = threading.Thread(target=lambda: watches.append(CpuWatch([])))
    thread.start()
    thread.join()

    assert observe(watches[0]).trainer_delay_s is None
    assert observe(watches[0]).trainer_delay_s is not None


@pytest.mark.parametrize("content", [None, "0 0 0\n", "soon\n"])
def test_the_delay_is_unknown_where_the_kernel_does_not_count_it(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = tmp_path / "schedstat"
    if content is not None:
        counter.write_text(content)
    monkeypatch.setattr(spare_cpu, "_SCHEDSTAT", str(counter))

    seen = observe(CpuWatch([]))

    assert seen.trainer_delay_s is None
    assert seen.delay_fraction == 0


@pytest.mark.parametrize(
    ("num_trainers", "part"), [(None, 1), ("1", 1), ("4", 4), ("0", 1), ("many", 1)]
)
def test_the_trainers_of_an_instance_share_its_cores(
    num_trainers: str | None, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    if num_trainers is not None:
        monkeypatch.setenv("LOCAL_WORLD_SIZE", num_trainers)

    assert own_cores() == available_cores() / part


def test_a_trainer_that_stands_for_a_device_counts_on_the_quota_and_uses_none_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(QUOTA_VARIABLE, "0.8")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")

    watch = CpuWatch(())
    until_s = time.process_time() + 0.01
    while time.process_time() < until_s:
        pass
    seen = observe(watch)

    assert (seen.cores, seen.trainer_cores) == (0.4, 0.0)
