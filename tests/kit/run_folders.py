"""Run folders with records that were made up: what a launcher and its instances leave."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Protocol, cast

import apsw
import numpy as np
import pytest

from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.run import Run
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.columns import COMMUNICATION_FIELDS
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import TERMINAL, RunState, State, write_state
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import STARTED_S, run_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.records import RunRecords


def write_run_folder(
    root: Path, run: RunRecords, *, usd_per_hour: float | None = 3.6, reason: str = ""
) -> RunFolder:
    """Write the folder of a run, and return it.

    Args:
        root: Folder of runs.
        run: What was recorded. A state that is not terminal leaves the run growing.
        usd_per_hour: Price of all instances; None: unknown.
        reason: Why it is in its state.
    """
    folder = RunFolder.create(root, str(run.job.job_name))
    folder.job_file.write_text(run.job.to_json(), encoding="utf-8")
    hosts = run.job.cluster.hosts()
    ranks = {name.partition("-rank")[0]: int(name.partition("-rank")[2]) for name in run.steps}
    instances = [
        {"host": host, "role": "train" if host in ranks else "data", "rank": ranks.get(host)}
        for host in hosts
    ]
    plan = {
        "launcher": "local",
        "instances": instances,
        "usd_per_hour": usd_per_hour,
        "price_notes": [] if usd_per_hour is None else ["ml.p3.2xlarge: $3.6/h, user"],
    }
    folder.plan_file.write_text(json.dumps(plan), encoding="utf-8")
    set_state(folder, cast("State", run.state), reason=reason, run=run)
    for name, steps in run.steps.items():
        with RecordWriter(folder.records / f"{name}.sqlite") as writer:
            for record in (*steps, *run.loader.get(name, ())):
                writer.append(record)
    for host, samples in run.system.items():
        with RecordWriter(folder.records / f"{host}-system.sqlite") as writer:
            for sample in samples:
                writer.append(sample)
    with RecordWriter(folder.records / "run.sqlite") as writer:
        for event in run.events:
            writer.append(event)
    return folder


def set_state(
    folder: RunFolder, state: State, *, reason: str = "", run: RunRecords | None = None
) -> None:
    """Put a run into a state, as its supervisor would."""
    write_state(
        folder,
        RunState(
            state=state,
            reason=reason,
            started_s=STARTED_S,
            ended_s=(run.ended_s if run else STARTED_S + 60) if state in TERMINAL else None,
            facts=run.facts if run else {},
        ),
    )


class WriteRun(Protocol):
    """Writes a run."""

    def __call__(self, name: str, *, root: Path | None = None) -> Run:
        """Return a run that completed.

        Args:
            name: What it is called.
            root: Folder of runs that it lies in; None: ``runs`` below the test's folder.
        """


@pytest.fixture
def ended_run(tmp_path: Path) -> WriteRun:
    """Return what writes the folder of a run of this machine that completed 20 steps."""

    def written(name: str, *, root: Path | None = None) -> Run:
        run = run_records(cluster="a=local:1", job_name=name)
        return opened(write_run_folder(root or tmp_path / "runs", run, usd_per_hour=None))

    return written


def opened(folder: RunFolder) -> Run:
    """Open a run that was written, as one that this machine launched."""
    handle = Handle(launcher="local", job_name=folder.job_name, run_folder=str(folder.path))
    folder.handle_file.write_text(handle.to_json(), encoding="utf-8")
    return Run.open(str(folder.path))


@contextmanager
def going_on(folder: RunFolder) -> Iterator[None]:
    """Let this process be the supervisor of a run, with its lock."""
    lock = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        state = RunState(
            state="InProgress",
            started_s=STARTED_S,
            supervisor_pid=os.getpid(),
            supervisor_start_ticks=start_ticks(os.getpid()),
        )
        write_state(folder, state)
        yield
    finally:
        os.close(lock)


def write_many_steps(path: Path, num_steps: int, *, spike_at: int | None = None) -> None:
    """Write a record file of so many steps of 0.1 s, quickly; one of them may take 9 s."""
    write_rows(
        path,
        (
            (n, STARTED_S + 0.1 * n, 9.0 if n == spike_at else 0.1, 0.02, None, 32, 1)
            + (None,) * len(COMMUNICATION_FIELDS)
            for n in range(num_steps)
        ),
    )


def write_rows(path: Path, rows: Iterable[tuple[object, ...]]) -> None:
    """Write a record file of steps, or add to one, quickly.

    Args:
        path: The file.
        rows: The values of each step, in the order of a ``StepRecord``'s fields.
    """
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(2_000)
    connection.execute("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF")
    with connection:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchall():
            for table in TABLES.values():
                connection.execute(table.create)
        connection.executemany(TABLES[StepRecord].insert, rows)
    connection.close()


@dataclass(frozen=True, kw_only=True)
class ManyRanks:
    """A run of many trainers, whose records are drawn by a seed."""

    folder: RunFolder
    """The run."""

    paths: tuple[Path, ...]
    """The record file of each rank."""

    fields: dict[str, NDArray[np.float64]]
    """What was recorded, by the name of a ``StepRecord``'s field, shape (R, S)."""


def write_many_ranks(
    root: Path,
    num_steps: int,
    *,
    instances: int,
    per_instance: int,
    state: State = "InProgress",
) -> ManyRanks:
    """Write the folder of a run of many trainers, quickly.

    Args:
        root: Folder of runs.
        num_steps: Steps of each rank.
        instances: Instances, ``algo-1`` and so on.
        per_instance: Trainers of each; their ranks count through all instances.
        state: Where the run stands.
    """
    job = TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse(f"dnn_group=ml.p4d.24xlarge:{instances}"),
        job_name="many",
    )
    folder = RunFolder.create(root, "many")
    folder.job_file.write_text(job.to_json(), encoding="utf-8")
    firsts = {host: at * per_instance for at, host in enumerate(job.cluster.hosts())}
    plan = {
        "launcher": "local",
        "instances": [
            {"host": host, "role": "train", "rank": rank, "num_trainers": per_instance}
            for host, rank in firsts.items()
        ],
        "usd_per_hour": 3.6,
        "price_notes": [],
    }
    folder.plan_file.write_text(json.dumps(plan), encoding="utf-8")
    handle = Handle(launcher="local", job_name="many", run_folder=str(folder.path), remote={})
    folder.handle_file.write_text(handle.to_json(), encoding="utf-8")
    set_state(folder, state)
    fields = drawn_steps(instances * per_instance, num_steps)
    paths = tuple(
        folder.rank_records(host, rank)
        for host, first in firsts.items()
        for rank in range(first, first + per_instance)
    )
    for path, rows in zip(paths, np.stack(list(fields.values()), axis=2), strict=True):
        write_rows(path, map(tuple, rows.tolist()))
    return ManyRanks(folder=folder, paths=paths, fields=fields)


def drawn_steps(num_ranks: int, num_steps: int) -> dict[str, NDArray[np.float64]]:
    """Return steps of ranks drawn by a seed, by field of a ``StepRecord``, each (R, S)."""
    rng = np.random.default_rng(num_ranks)
    shape = num_ranks, num_steps
    own_s = rng.uniform(0.1, 0.3, shape)
    wait_s = own_s.max(axis=0) - own_s
    step = np.broadcast_to(np.arange(float(num_steps)), shape)
    drawn = {field.name: rng.uniform(1, 9, shape).round() for field in fields_of(StepRecord)}
    return drawn | {
        "step": step,
        "end_time_s": STARTED_S + 2 + 0.4 * step + rng.uniform(0, 0.01, shape),
        "step_time_s": own_s + wait_s + rng.uniform(0.0, 0.01, shape),
        "data_wait_s": own_s / 10,
        "device_time_s": own_s / 2,
        "synchronized": (rng.random(shape) > 1 / (4 * num_ranks)).astype(float),
        "exposed_comm_s": rng.uniform(0, 0.01, shape),
        "rank_wait_s": wait_s,
        "local_grad_norm2": rng.uniform(0, 1, shape),
    }
