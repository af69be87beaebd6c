"""Checkpoints of an instance, as they come to the run's folder while it trains."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.opt_ml import listing
from smtc_lab.launchers.on_ray.mirror import PIECE_BYTES, CheckpointMirror, InstanceMirror
from smtc_lab.launchers.on_ray.node_files import NodeFiles
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

HOST = "algo-1"


@pytest.fixture
def node(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "node", "job")


@pytest.fixture
def here(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "here", "job")


def saved(folder: RunFolder, name: str, data: bytes, *, changed_s: int) -> Path:
    path = folder.opt_ml(HOST) / "checkpoints" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (changed_s, changed_s))
    return path


def names_in(folder: RunFolder) -> list[str]:
    return [name for name, _, _ in listing(folder.opt_ml(HOST))]


def mirror_of(
    node: RunFolder, here: RunFolder, seen_s: dict[str, float] | None = None
) -> CheckpointMirror:
    files, known = NodeFiles(node, HOST), {} if seen_s is None else seen_s
    mirror = InstanceMirror(here, HOST)
    return CheckpointMirror(mirror, here, HOST, piece=files.piece, seen_s=known)


def bring(mirror: CheckpointMirror, node: RunFolder) -> None:
    mirror.take(NodeFiles(node, HOST).listing(), time.monotonic())
    mirror.go_on()


def test_a_large_file_comes_in_pieces_and_is_there_only_whole(
    node: RunFolder, here: RunFolder
) -> None:
    data = os.urandom(2 * PIECE_BYTES + 1)
    saved(node, "step-1.pt", data, changed_s=1)
    saved(node, "step-1.json", b"{}", changed_s=2)
    mirror = mirror_of(node, here)
    mirror.take(NodeFiles(node, HOST).listing(), 0.0)

    seen = []
    while mirror.is_busy:
        mirror.go_on(0.0)
        seen.append(names_in(here))

    data_file, mark = "checkpoints/step-1.pt", "checkpoints/step-1.json"
    assert seen == [[], [], [data_file], [data_file, mark], [data_file, mark]]
    assert (here.opt_ml(HOST) / data_file).read_bytes() == data
    assert listing(here.opt_ml(HOST)) == listing(node.opt_ml(HOST))
    before = (here.opt_ml(HOST) / data_file).stat().st_ino
    bring(mirror, node)
    assert (here.opt_ml(HOST) / data_file).stat().st_ino == before  # it is not brought twice


def test_the_last_one_goes_only_when_another_has_come(node: RunFolder, here: RunFolder) -> None:
    mirror, files = mirror_of(node, here), NodeFiles(node, HOST)
    first = saved(node, "step-1.pt", b"1", changed_s=1)
    bring(mirror, node)
    first.unlink()
    second = saved(node, "step-2.pt", b"2", changed_s=2)
    listed = files.listing()
    second.write_bytes(b"3")  # while it is on its way

    mirror.take(listed, 0.0)
    mirror.go_on()
    assert names_in(here) == ["checkpoints/step-1.pt"]
    bring(mirror, node)
    assert names_in(here) == ["checkpoints/step-2.pt"]
    assert (here.opt_ml(HOST) / "checkpoints/step-2.pt").read_bytes() == b"3"


def test_nothing_goes_before_the_other_instances_are_seen_as_late(
    node: RunFolder, here: RunFolder
) -> None:
    seen_s = {"algo-2": 0.0}
    mirror = mirror_of(node, here, seen_s)
    first = saved(node, "step-1.pt", b"1", changed_s=1)
    bring(mirror, node)
    first.unlink()
    saved(node, "step-2.pt", b"2", changed_s=2)

    bring(mirror, node)
    bring(mirror, node)
    assert names_in(here) == ["checkpoints/step-1.pt", "checkpoints/step-2.pt"]
    assert seen_s[HOST] > 0
    seen_s["algo-2"] = time.monotonic()
    bring(mirror, node)
    assert names_in(here) == ["checkpoints/step-2.pt"]
    mirror.end()
    assert seen_s[HOST] == math.inf


def test_a_node_is_given_what_an_earlier_one_had(node: RunFolder, here: RunFolder) -> None:
    data = os.urandom(PIECE_BYTES + 7)
    saved(here, "deep/step-1.pt", data, changed_s=5)
    saved(here, "empty", b"", changed_s=6)
    files = NodeFiles(node, HOST)

    for told in listing(here.opt_ml(HOST)):
        whole = (here.opt_ml(HOST) / told[0]).read_bytes()
        for offset in range(0, max(1, len(whole)), PIECE_BYTES):
            files.put(told, offset, whole[offset : offset + PIECE_BYTES])

    assert listing(node.opt_ml(HOST)) == listing(here.opt_ml(HOST))
    assert (node.opt_ml(HOST) / "checkpoints/deep/step-1.pt").read_bytes() == data


def test_checkpoints_are_told_once_the_records_of_their_steps_are(node: RunFolder) -> None:
    files = NodeFiles(node, HOST)
    with RecordWriter(node.records / f"{HOST}-rank0.sqlite") as writer:
        for number in range(5_001):
            writer.append(step_record(step=number))
    saved(node, "step-5001.json", b"{}", changed_s=1)

    first = files.news({}, 0.0)
    second = files.news(first["cursor"], 0.0)

    assert first["checkpoints"] is None
    assert [name for name, _, _ in second["checkpoints"]] == ["checkpoints/step-5001.json"]


def test_steps_of_a_new_node_take_the_place_of_those_that_were_lost(
    node: RunFolder, here: RunFolder
) -> None:
    name = f"{HOST}-rank0.sqlite"
    with RecordWriter(here.records / name) as writer:
        for number in range(5):
            writer.append(step_record(step=number, step_time_s=1.0))
    with RecordWriter(node.records / name) as writer:
        writer.append(AttemptRecord(attempt=2, time_s=9.0, first_step=3))
        for number in (3, 4, 5):
            writer.append(step_record(step=number, step_time_s=2.0))
        writer.flush()

    mirror = InstanceMirror(here, HOST)
    mirror.take(NodeFiles(node, HOST).news({}, 0.0))
    mirror.close()

    steps, _ = read_records(here.records / name, StepRecord)
    assert [(one.step, one.step_time_s) for one in steps] == [
        *((number, 1.0) for number in range(3)),
        *((number, 2.0) for number in range(3, 6)),
    ]
    ((attempt,), _) = read_records(here.records / name, AttemptRecord)
    assert attempt.steps_again == 2
