"""Record files from before steps told of communication are read as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import numpy as np

from smtc_lab.metrics.columns import COMMUNICATION_FIELDS, STEP_COLUMNS, step_columns
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.store.writer import RecordWriter, open_record_file
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_without_the_columns_of_communication_knows_nothing_of_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "algo-1-rank0.sqlite"
    with RecordWriter(path) as writer:
        for step in range(3):
            writer.append(step_record(step=step))
    connection = apsw.Connection(str(path))
    for name in COMMUNICATION_FIELDS:
        connection.execute(f"ALTER TABLE step_record DROP COLUMN {name}")
    connection.close()

    records, _ = read_records(path, StepRecord)
    columns = StepColumns([path]).read(0, columns=STEP_COLUMNS)

    assert records == [step_record(step=step) for step in range(3)]
    np.testing.assert_array_equal(columns, step_columns([records]))


def test_live_columns_of_communication_equal_those_of_the_end(tmp_path: Path) -> None:
    ranks = []
    for rank in range(3):
        path = tmp_path / f"algo-1-rank{rank}.sqlite"
        values = {
            name: (rank + 1.1) * (place + 1) for place, name in enumerate(COMMUNICATION_FIELDS)
        }
        whole = {
            "comm_bytes": 5 + rank,
            "num_buckets": 2,
            "num_syncs": 1,
            "gathered_bytes": 7 + rank,
        }
        with RecordWriter(path) as writer:
            for step in range(4):
                writer.append(step_record(step=step, **{**values, **whole}))
        ranks.append(path)

    live = StepColumns(ranks).read(0, columns=STEP_COLUMNS)
    final = step_columns([read_records(path, StepRecord)[0] for path in ranks])

    np.testing.assert_array_equal(live, final)


def test_every_new_file_has_the_columns(tmp_path: Path) -> None:
    open_record_file(tmp_path / "new.sqlite").close()

    assert StepColumns([tmp_path / "new.sqlite"]).read(0, columns=STEP_COLUMNS).shape[1] == 0
