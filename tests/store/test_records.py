from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.errors import StoreError
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.records import EventRecord, LoaderRecord, StepRecord, SystemSample
from smtc_lab.neutral_text import neutral
from smtc_lab.spec.distribution import Distribution
from smtc_lab.store.reader import read_job, read_records, read_run
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record, system_sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.store.run_folder import RunFolder

WHOLE = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.floats(-1e15, 1e15)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES: dict[object, Any] = {
    int: WHOLE,
    float: NUMBERS,
    str: TEXT,
    bool: st.booleans(),
    int | None: st.none() | WHOLE,
    float | None: st.none() | NUMBERS,
}
RECORDS = st.one_of(
    st.builds(kind, **{name: VALUES[one] for name, one in get_type_hints(kind).items()})
    for kind in TABLES
    if kind is not AttemptRecord  # it removes others
)


def write(path: Path, *records: object) -> None:
    with RecordWriter(path) as writer:
        for record in records:
            writer.append(record)


def as_read(record: Any) -> object:
    """Return a record with the texts that a reader gets: what a terminal obeys is replaced."""
    values = asdict(record).items()
    texts = {name: neutral(value) for name, value in values if isinstance(value, str)}
    return replace(record, **texts)


def steps_in(path: Path) -> list[int]:
    return [record.step for record in read_records(path, StepRecord)[0]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "algo-1-rank0.sqlite"


@settings(max_examples=50, deadline=None)
@given(records=st.lists(RECORDS, max_size=8))
def test_every_record_comes_back_as_it_was(records: list[object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.sqlite"
        write(path, *records)

        for kind in TABLES:
            found, _ = read_records(path, kind)
            assert found == [as_read(record) for record in records if type(record) is kind]


def test_an_attempt_replaces_the_steps_that_it_does_again(path: Path) -> None:
    before = [step_record(step=step, end_time_s=100.0 + step) for step in range(5)]
    write(path, *before)
    again = [step_record(step=step, end_time_s=200.0 + step) for step in (3, 4, 5)]
    with RecordWriter(path) as writer:
        writer.append(AttemptRecord(attempt=2, time_s=199.0, first_step=3))
        for record in again:
            writer.append(record)
        writer.flush()
        assert steps_in(path) == list(range(6))

    assert read_records(path, StepRecord)[0] == [*before[:3], *again]
    assert read_records(path, AttemptRecord)[0] == [
        AttemptRecord(attempt=2, time_s=199.0, first_step=3, steps_again=2, again_s=2.0)
    ]
    columns = StepColumns([path])
    assert (columns.count(), columns.num_returns()) == (6, 1)


def test_record_files_are_private(path: Path) -> None:
    with RecordWriter(path) as writer:
        writer.append(step_record())
        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


def test_a_file_that_is_not_there_yet_has_no_records(path: Path) -> None:
    assert read_records(path, StepRecord, after=3) == ([], 3)
    assert not path.exists()


@pytest.mark.parametrize("begun", ["empty", "without tables"])
def test_a_file_that_has_just_begun_has_no_records(path: Path, begun: str) -> None:
    path.touch()
    if begun == "without tables":
        apsw.Connection(str(path)).execute("PRAGMA journal_mode=WAL; PRAGMA user_version=1")

    assert read_records(path, StepRecord) == ([], 0)


def test_a_growing_file_is_followed(path: Path) -> None:
    with RecordWriter(path) as writer:
        seen: list[int] = []
        after = 0
        for step in range(12):
            writer.append(step_record(step=step))
            while len(seen) <= step:
                found, after = read_records(path, StepRecord, after=after)
                seen += [record.step for record in found]

    assert seen == list(range(12))
    assert read_records(path, StepRecord, after=after) == ([], after)


def test_closing_twice_is_safe_and_what_comes_later_is_not_kept(path: Path) -> None:
    writer = RecordWriter(path)
    writer.append(step_record(step=0))
    writer.close()
    writer.append(step_record(step=1))
    writer.close()

    assert list(path.parent.iterdir()) == [path]
    assert steps_in(path) == [0]


def test_threads_lose_no_record_to_each_other(path: Path) -> None:
    with RecordWriter(path) as writer:

        def append_some(thread: int) -> None:
            for number in range(500):
                writer.append(step_record(step=1_000 * thread + number))

        threads = [threading.Thread(target=append_some, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(steps_in(path)) == sorted(1_000 * n + m for n in range(4) for m in range(500))


def test_a_reader_that_looks_while_files_begin_disturbs_no_writer(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.sqlite" for number in range(40)]
    done = threading.Event()

    def keep_looking() -> None:
        while not done.is_set():
            for path in paths:
                read_records(path, StepRecord)

    reader = threading.Thread(target=keep_looking)
    reader.start()
    try:
        for path in paths:
            write(path, step_record(step=7))
    finally:
        done.set()
        reader.join()

    assert [steps_in(path) for path in paths] == [[7]] * len(paths)


REPORTING_WRITER = """
    import sys
    from pathlib import Path
    from smtc_lab.metrics.records.records import StepRecord
    from smtc_lab.store.reader import read_records
    from smtc_lab.store.writer import RecordWriter
    from tests.kit.records import step_record

    path = Path(sys.argv[1])
    writer = RecordWriter(path)
    committed = step = 0
    while True:
        for _ in range(int(sys.argv[2])):
            writer.append(step_record(step=step))
            step += 1
        while committed < step:
            found, committed = read_records(path, StepRecord, after=committed)
            if found:
                print(committed, flush=True)
"""


def write_and_kill(path: Path, batch: int, reports: int) -> int:
    """Kill -9 a writer in mid-work and return the count that it reported as committed."""
    command = [sys.executable, "-c", textwrap.dedent(REPORTING_WRITER), path, str(batch)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(reports)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
    return int([line for line in said if line.endswith("\n")][-1])


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    path = tmp_path_factory.mktemp("killed") / "algo-1-rank0.sqlite"
    return path, write_and_kill(path, batch=7, reports=4)


@pytest.fixture
def path_of_killed(killed: tuple[Path, int], tmp_path: Path) -> Path:
    shutil.copytree(killed[0].parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / killed[0].name


@pytest.mark.parametrize(("batch", "reports"), [(1, 3), (700, 2)])
def test_kill_9_of_a_writer_loses_no_committed_record(
    path: Path, batch: int, reports: int
) -> None:
    committed = write_and_kill(path, batch, reports)

    kept = steps_in(path)

    assert len(kept) >= committed >= batch
    assert kept == list(range(len(kept)))


def test_what_kill_9_left_in_the_log_is_read_and_stays_readable(
    path_of_killed: Path, killed: tuple[Path, int]
) -> None:
    assert {file.name for file in path_of_killed.parent.iterdir()} == {
        path_of_killed.name + suffix for suffix in ("", "-wal", "-shm")
    }

    first, again = steps_in(path_of_killed), steps_in(path_of_killed)

    assert first == again
    assert len(first) >= killed[1]


def test_a_copy_without_the_index_of_the_log_loses_nothing(
    path_of_killed: Path, killed: tuple[Path, int]
) -> None:
    path_of_killed.with_name(path_of_killed.name + "-shm").unlink()

    assert steps_in(path_of_killed) == steps_in(killed[0])


def test_a_writer_goes_on_in_the_file_of_a_killed_one(path_of_killed: Path) -> None:
    kept = steps_in(path_of_killed)

    write(path_of_killed, step_record(step=-1))

    assert steps_in(path_of_killed) == [*kept, -1]


def test_a_damaged_file_says_which_one_it_is(path: Path) -> None:
    path.write_bytes(b"not a record file" * 1_000)

    with pytest.raises(StoreError, match=r"rank0.sqlite' is damaged.*restore this one"):
        read_records(path, StepRecord)


def test_a_file_with_damaged_pages_says_so(path: Path) -> None:
    write(path, *(step_record(step=step) for step in range(2_000)))
    whole = path.read_bytes()
    path.write_bytes(whole[:8_192] + b"\xa5" * (len(whole) - 8_192))

    with pytest.raises(StoreError, match=r"rank0.sqlite' is damaged"):
        read_records(path, StepRecord)


def test_a_truncated_file_says_so(path: Path) -> None:
    write(path, *(step_record(step=step) for step in range(2_000)))
    with path.open("r+b") as file:
        file.truncate(12_288)

    with pytest.raises(StoreError, match=r"rank0.sqlite' is damaged"):
        read_records(path, StepRecord)


def test_a_file_of_another_version_says_how_it_can_be_read(path: Path) -> None:
    apsw.Connection(str(path)).execute("CREATE TABLE step_record (step INTEGER, mood TEXT)")

    with pytest.raises(StoreError, match=r"cannot be read.*version that wrote it"):
        read_records(path, StepRecord)


def test_a_file_of_a_later_version_is_refused_by_its_number(path: Path) -> None:
    write(path, step_record(step=0))
    assert steps_in(path) == [0]

    apsw.Connection(str(path)).execute("PRAGMA user_version=7")

    with pytest.raises(
        StoreError, match=r"by a newer smtc_lab \(schema 7\).* up to schema 1\. Read it"
    ):
        read_records(path, StepRecord)


def test_a_file_from_before_there_were_versions_is_read(path: Path) -> None:
    write(path, step_record(step=0))

    apsw.Connection(str(path)).execute("PRAGMA user_version=0")

    assert steps_in(path) == [0]


def test_a_folder_in_the_place_of_a_file_says_so(path: Path) -> None:
    path.mkdir()

    with pytest.raises(StoreError, match=r"rank0.sqlite' cannot be read"):
        read_records(path, StepRecord)


def test_a_file_of_somebody_else_says_what_to_do(path: Path) -> None:
    write(path, step_record())
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")

    with pytest.raises(StoreError, match=r"cannot be read.*Give yourself the right"):
        read_records(path, StepRecord)


def test_a_writer_without_a_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be made. SQLite says.*choose another folder"):
        RecordWriter(tmp_path / "nowhere" / "records.sqlite")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (step_record(step={}), "TypeError"),
        (step_record(step=2**63), "OverflowError"),
        (
            EventRecord(time_s=0.0, kind="data", host="", message="\ud800"),
            "UnicodeEncodeError.*surrogates",
        ),
    ],
)
def test_a_record_that_cannot_be_kept_is_no_silent_loss(
    path: Path, record: object, why: str
) -> None:
    write(path, step_record(step=0))
    writer = RecordWriter(path)
    writer.append(record)

    with pytest.raises(StoreError, match=rf"1 records could not be written to .*{why}"):
        writer.close()
    with pytest.raises(StoreError, match="could not be written"):
        writer.append(step_record())
    assert steps_in(path) == [0]


def append_forever(writer: RecordWriter) -> None:
    for step in itertools.count(100):
        writer.append(step_record(step=step))


def test_a_full_disk_is_told_and_earlier_records_are_kept(
    small_disk: Path, fill: Callable[[Path], Path]
) -> None:
    path = small_disk / "records.sqlite"
    writer = RecordWriter(path)
    for step in range(100):
        writer.append(step_record(step=step))
    while len(steps_in(path)) < 100:
        pass
    filler = fill(small_disk)

    with pytest.raises(StoreError, match=r"could not be written.*disk is full.*Free space"):
        append_forever(writer)
    with pytest.raises(StoreError, match=r"written before are kept"):
        writer.close()

    kept = steps_in(path)
    assert len(kept) >= 100
    assert kept == list(range(len(kept)))
    filler.unlink()
    assert steps_in(path) == kept
    write(path, step_record(step=-1))
    assert steps_in(path)[-1] == -1


def test_a_file_cannot_begin_on_a_full_disk(
    small_disk: Path, fill: Callable[[Path], Path]
) -> None:
    fill(small_disk)

    with pytest.raises(StoreError, match=r"cannot be made. (The disk is full|SQLite says)"):
        RecordWriter(small_disk / "records.sqlite")


def test_a_run_is_read_as_a_whole(run_folder: RunFolder) -> None:
    write_state(run_folder, RunState(state="Completed", started_s=1.0, ended_s=9.0))
    loader = LoaderRecord(
        time_s=2.0,
        server="algo-2",
        batches=3,
        received_bytes=4,
        get_wait_s=0.5,
        worker_busy_s=0.25,
        requests_sent_again=0,
    )
    late = EventRecord(time_s=8.0, kind="data", host="algo-1", message="late")
    early = EventRecord(time_s=1.0, kind="state", host="", message="early")
    write(run_folder.records / "algo-1-rank0.sqlite", step_record(), loader, late)
    write(run_folder.records / "algo-1-system.sqlite", system_sample())
    write(run_folder.records / "run.sqlite", early)

    run = read_run(run_folder)

    assert run.job.job_name == "train-1"
    assert (run.state, run.started_s, run.ended_s) == ("Completed", 1.0, 9.0)
    assert run.steps == {"algo-1-rank0": [step_record()]}
    assert run.loader == {"algo-1-rank0": [loader]}
    assert run.system == {"algo-1": [system_sample()]}
    assert run.events == [early, late]


def test_a_run_whose_data_instances_reduced_gradients_opens_without_that(
    run_folder: RunFolder,
) -> None:
    values = json.loads(run_folder.job_file.read_text(encoding="utf-8"))
    values["distribution"] = {"data": 4, "reduce_on": "data_group"}
    run_folder.job_file.write_text(json.dumps(values), encoding="utf-8")

    assert read_job(run_folder).distribution == Distribution(data=4)


def test_a_run_with_a_damaged_job_says_so(run_folder: RunFolder) -> None:
    run_folder.job_file.write_text('{"entry_point": 7}', encoding="utf-8")

    with pytest.raises(
        StoreError, match=r"job of run 'train-1' cannot be read(.|\n)*Restore job.json"
    ):
        read_run(run_folder)


def test_a_table_has_the_fields_of_its_record_in_order() -> None:
    record = step_record(num_samples=None, synchronized=True)
    table = TABLES[StepRecord]

    assert table.columns == tuple(asdict(record))
    assert list(table.fields([(1, *table.values(record))])) == [asdict(record)]
    assert "step_record" in table.create
    assert "system_sample" in TABLES[SystemSample].create
