"""What a job says, brought to a run folder: its own words as they are, ours understood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.on_sagemaker.mirror import JobMirror
from smtc_lab.metrics.records.lines import PREFIX, line_key, record_line, row_lines
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.tables import TABLES
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

SECRET = b"s" * 32
STREAM = "train-1/algo-7-1700000000"
HOSTS = ("algo-1", "algo-2")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder.create(tmp_path, "train-1")
    folder.secret_file.write_bytes(SECRET)
    return folder


def sealed(*, secret: bytes = SECRET, **content: Any) -> str:
    return record_line(line_key(secret), {"host": "algo-1", **content})


def begin(**changes: Any) -> str:
    return sealed(**{"is": "begin", "platform_host": "algo-7", **changes})


def ended(**changes: Any) -> str:
    return sealed(**{"is": "exit", "exit_code": 0, "time_s": 1.0, "rows": {}, **changes})


def steps(first: int, end: int, *, file: str = "rank0") -> list[str]:
    rows = [
        ("step_record", list(TABLES[StepRecord].values(step_record(step=step))))
        for step in range(first, end)
    ]
    about = {"is": "rows", "host": "algo-1", "file": file, "part": "17"}
    return list(row_lines(line_key(SECRET), about, first=first, rows=rows))


def log(folder: RunFolder, host: str = "algo-1") -> list[str]:
    path = folder.log_file(host)
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def mirrored_steps(folder: RunFolder) -> list[int]:
    records, _ = read_records(folder.records / "algo-1-rank0.sqlite", StepRecord)
    return [record.step for record in records]


def test_an_instance_has_its_planned_name_whatever_the_platform_calls_it(
    folder: RunFolder,
) -> None:
    mirror = JobMirror(folder, HOSTS)

    mirror.take(STREAM, ["before", begin(), "after", *steps(0, 3), ended(exit_code=3)])

    assert log(folder) == ["before", "after"]
    assert mirror.platform_hosts == {"algo-1": "algo-7"}
    assert mirrored_steps(folder) == [0, 1, 2]
    assert mirror.exits["algo-1"]["exit_code"] == 3
    mirror.settle()


def test_a_container_that_could_not_begin_has_its_words_kept(folder: RunFolder) -> None:
    mirror = JobMirror(folder, HOSTS)

    mirror.take("train-1/algo-2-1700000000", ["The image has Python 3.8"])
    assert log(folder, "algo-2") == []
    mirror.settle()

    assert log(folder, "algo-2") == ["The image has Python 3.8"]


@pytest.mark.parametrize(
    "line",
    [
        PREFIX + '{"is":"exit","host":"algo-1","exit_code":0,"time_s":1.0,"rows":{}}',
        ended(secret=b"t" * 32),
        ended().replace('"exit_code":0', '"exit_code":1'),
    ],
)
def test_a_line_that_a_script_made_up_stays_what_it_is(folder: RunFolder, line: str) -> None:
    mirror = JobMirror(folder, HOSTS)

    mirror.take(STREAM, [begin(), line])

    assert mirror.exits == {}
    assert mirror.num_refused == 1
    assert log(folder) == [line]
    mirror.settle()


@pytest.mark.parametrize(
    "content",
    [
        {"is": "begin", "host": "algo-3", "platform_host": "algo-7"},
        {"is": "begin"},
        {"is": "exit", "exit_code": "x", "time_s": 1, "rows": {}},
        {"is": "exit", "exit_code": 0, "time_s": 1, "rows": 3},
        {"is": "rows", "file": "../../x", "part": "1", "first": 0, "table": "t", "rows": []},
        {"is": "rows", "file": "rank0", "part": "1", "first": 0, "table": "t", "rows": [1]},
    ],
)
def test_an_instance_that_speaks_otherwise_changes_nothing(
    folder: RunFolder, content: dict[str, Any]
) -> None:
    before = sorted(path.name for path in folder.path.rglob("*"))
    mirror = JobMirror(folder, HOSTS)

    mirror.take(STREAM, [sealed(**content)])

    assert mirror.num_refused == 1
    assert mirror.exits == {}
    mirror.settle()
    made = {path.name for path in folder.path.rglob("*")} - set(before)
    assert made <= {"algo-1-rank0.sqlite"}


def test_a_second_mirror_repeats_nothing(folder: RunFolder) -> None:
    said = [begin(), "one", *steps(0, 4), "two"]
    first = JobMirror(folder, HOSTS)
    first.take(STREAM, said)
    first.settle()

    second = JobMirror(folder, HOSTS)
    second.take(STREAM, said[:3])
    second.take(STREAM, [*said[3:], "three", *steps(4, 6)])
    second.settle()

    assert log(folder) == ["one", "two", "three"]
    assert mirrored_steps(folder) == [0, 1, 2, 3, 4, 5]


def test_a_container_that_is_started_again_goes_on_in_the_same_log(folder: RunFolder) -> None:
    mirror = JobMirror(folder, HOSTS)

    mirror.take(STREAM, [begin(), "one", ended(exit_code=1)])
    mirror.take("train-1/algo-3-1700000009", [begin(platform_host="algo-3"), "two"])

    assert log(folder) == ["one", "two"]
    assert mirror.platform_hosts == {"algo-1": "algo-3"}
    assert mirror.exits == {}
    mirror.settle()


def test_rows_that_the_log_lost_come_from_the_instances_own_files(folder: RunFolder) -> None:
    rows = [
        f"step_record {list(TABLES[StepRecord].values(step_record(step=step)))}"
        for step in range(4)
    ]
    data = "\n".join([*rows, "step_rec"]).replace("None", "null").replace("True", "true")
    mirror = JobMirror(folder, HOSTS)
    mirror.take(STREAM, [begin(), *steps(0, 1), *steps(2, 3)])
    assert mirror.is_missing_rows("algo-1")
    mirror.take(STREAM, [ended(rows={"algo-7-rank0.17.lines": 4})])
    assert mirror.is_missing_rows("algo-1")

    mirror.take_file("algo-1", "algo-7-rank0.17.lines", data.encode())

    assert not mirror.is_missing_rows("algo-1")
    assert mirror.settle() == 0
    assert mirrored_steps(folder) == [0, 1, 2, 3]
