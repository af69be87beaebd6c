"""Run folders with records that were made up: what a launcher and its instances leave."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import apsw

from smtc_lab.metrics.columns import COMMUNICATION_FIELDS
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import TERMINAL, RunState, State, write_state
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import STARTED_S

if TYPE_CHECKING:
    from pathlib import Path

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


def write_many_steps(path: Path, num_steps: int, *, spike_at: int | None = None) -> None:
    """Write a record file of so many steps of 0.1 s, quickly; one of them may take 9 s."""
    connection = apsw.Connection(str(path))
    for table in TABLES.values():
        connection.execute(table.create)
    with connection:
        connection.executemany(
            TABLES[StepRecord].insert,
            (
                (n, STARTED_S + 0.1 * n, 9.0 if n == spike_at else 0.1, 0.02, None, 32, 1)
                + (None,) * len(COMMUNICATION_FIELDS)
                for n in range(num_steps)
            ),
        )
    connection.close()
