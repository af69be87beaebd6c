"""What an instance has written, as its node tells it and the launching machine keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import StoreError
from smtc_lab.launchers.on_ray.mirror import InstanceMirror, instance_end
from smtc_lab.launchers.on_ray.node_files import ENDED_FILE, NodeFiles
from smtc_lab.launchers.supervision.gang import Exit
from smtc_lab.launchers.supervision.instances import InstanceEnd
from smtc_lab.metrics.records.records import EventRecord, StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

HOST = "algo-2"
ENDED = InstanceEnd(exit=Exit(exit_code=3), problems=("A disk was full.",), facts={"a": "b"})


@pytest.fixture
def node(tmp_path: Path) -> RunFolder:
    folder = RunFolder.create(tmp_path / "node", "job")
    folder.opt_ml(HOST).mkdir(parents=True)
    return folder


@pytest.fixture
def here(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "here", "job")


def ends(node: RunFolder) -> None:
    path = node.instance(HOST) / ENDED_FILE
    path.write_text(json.dumps(asdict(ENDED)), encoding="utf-8")


def test_lines_and_records_arrive_once_and_in_order(node: RunFolder, here: RunFolder) -> None:
    files, mirror = NodeFiles(node, HOST), InstanceMirror(here, HOST)
    steps = [step_record(step=number) for number in range(4)]
    told = EventRecord(time_s=1.0, kind="warning", host=HOST, message="slow")
    path = node.records / f"{HOST}-rank0.sqlite"
    with RecordWriter(path) as writer:
        writer.append(steps[0])
        node.log_file(HOST).write_text("begun\nhalf a", encoding="utf-8")
        first = files.news({}, 5.0)
        mirror.take(first)
        for step in steps[1:]:
            writer.append(step)
        writer.append(told)
    with node.log_file(HOST).open("a") as log:
        log.write(" line\n")
    ends(node)
    second = files.news(first["cursor"], 5.0)
    mirror.take(second)
    mirror.take(files.news(second["cursor"], 5.0))
    mirror.close()

    kept = here.records / path.name
    assert read_records(kept, StepRecord)[0] == steps
    assert read_records(kept, EventRecord)[0] == [told]
    assert here.log_file(HOST).read_text(encoding="utf-8") == "begun\nhalf a line\n"


def test_an_answer_that_was_lost_is_given_again(node: RunFolder) -> None:
    files = NodeFiles(node, HOST)
    with RecordWriter(node.records / f"{HOST}-rank0.sqlite") as writer:
        writer.append(step_record())

    lost = files.news({}, 5.0)

    assert lost["records"]
    assert files.news({}, 5.0) == lost


def test_an_instance_that_has_ended_and_has_no_news_has_told_everything(
    node: RunFolder,
) -> None:
    files = NodeFiles(node, HOST)
    node.log_file(HOST).write_text("begun\n", encoding="utf-8")
    ends(node)

    first = files.news({}, 5.0)
    last = files.news(first["cursor"], 5.0)

    assert first["logs"] == {f"{HOST}.log": b"begun\n"}
    assert instance_end(last["ended"]) == ENDED
    assert (last["logs"], last["records"]) == ({}, [])


def test_what_an_entry_point_saves_is_told_without_links(node: RunFolder) -> None:
    base = node.opt_ml(HOST)
    (base / "model" / "deep").mkdir(parents=True)
    (base / "model" / "deep" / "weights.pt").write_bytes(b"12345")
    (base / "model" / "link").symlink_to("/etc/passwd")
    files = NodeFiles(node, HOST)

    assert files.outputs() == [("model/deep/weights.pt", 5)]
    assert files.read("model/deep/weights.pt", 2, 2) == b"34"


@pytest.mark.parametrize(
    "name", ["algo-3.log", "algo-3-rank0.log", "../../x.log", "/etc/cron.d/x"]
)
def test_a_node_writes_no_log_of_others(here: RunFolder, name: str) -> None:
    news = {"logs": {name: b"x"}, "records": []}

    with pytest.raises(StoreError, match="not a file of that instance"):
        InstanceMirror(here, HOST).take(news)


def test_each_trainer_of_a_node_has_its_log(here: RunFolder) -> None:
    InstanceMirror(here, HOST).take({"logs": {f"{HOST}-rank1.log": b"one\n"}, "records": []})

    assert here.log_file(HOST, 1).read_bytes() == b"one\n"


@pytest.mark.parametrize(
    "name", ["algo-3-rank0.sqlite", "../algo-2-rank0.sqlite", "run.sqlite"]
)
def test_a_node_writes_no_records_of_others(here: RunFolder, name: str) -> None:
    news = {"logs": {}, "records": [(name, "StepRecord", [])]}

    with pytest.raises(StoreError, match="not a file of that instance"):
        InstanceMirror(here, HOST).take(news)


@pytest.mark.parametrize("name", ["../../../../secret", "/etc/passwd"])
def test_an_output_stays_with_its_instance(here: RunFolder, name: str) -> None:
    with pytest.raises(StoreError, match="not a file of that instance"):
        InstanceMirror(here, HOST).path_of(name)
