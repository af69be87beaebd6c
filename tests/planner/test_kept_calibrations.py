"""Calibrations that are found again, in a folder that may be anybody's."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.planner.forecast.kept import FOLDER, KeptCalibrations
from tests.kit.calibrations import calibration

if TYPE_CHECKING:
    from pathlib import Path

WORKLOAD = "0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / FOLDER
    made.mkdir()
    return made


def keep(folder: Path, name: str, **fields: Any) -> Path:
    return calibration(**fields).save(folder / f"{name}.json")


def found(folder: Path, *, is_emulated: bool = True) -> str | None:
    newest = KeptCalibrations(folder.parent).newest(WORKLOAD, is_emulated=is_emulated)
    return None if newest is None else newest.calibration.created


def test_the_newest_one_of_the_workload_and_its_kind_of_device_is_found(folder: Path) -> None:
    keep(folder, "z-older", created="2026-11-22T03:00:00+00:00")
    keep(folder, "a-newest", created="2026-11-23T03:00:00+00:00")
    keep(folder, "other", created="2026-11-24T03:00:00+00:00", workload="another")
    keep(folder, "real", created="2026-11-24T03:00:00+00:00", emulated_device_s=None)

    assert found(folder) == "2026-11-23T03:00:00+00:00"
    assert found(folder, is_emulated=False) == "2026-11-24T03:00:00+00:00"


def test_where_there_is_no_folder_nothing_is_found(tmp_path: Path) -> None:
    assert found(tmp_path / "none" / FOLDER) is None


def test_what_is_kept_later_is_found_and_what_is_gone_is_not(folder: Path) -> None:
    kept = KeptCalibrations(folder.parent)
    assert kept.newest(WORKLOAD, is_emulated=True) is None

    path = keep(folder, "one")
    first = kept.newest(WORKLOAD, is_emulated=True)
    assert first is not None
    assert kept.newest(WORKLOAD, is_emulated=True) is first

    path.unlink()
    assert kept.newest(WORKLOAD, is_emulated=True) is None


def test_a_folder_of_a_stranger_breaks_nothing(folder: Path, tmp_path: Path) -> None:
    text = calibration(created="2030-01-01T00:00:00+00:00").to_json()
    values = json.loads(text)
    outside = tmp_path / "outside.json"
    outside.write_text(text, encoding="utf-8")
    (folder / "link.json").symlink_to(outside)
    (folder / "dangling.json").symlink_to(tmp_path / "nothing")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    (folder / "huge.json").write_text(text + " " * 2**21, encoding="utf-8")
    (folder / "nested.json").write_text("[" * 100_000, encoding="utf-8")
    nested = "[" * 90_000 + "]" * 90_000
    deep = text.replace('"hyperparameters": {', f'"hyperparameters": {{"deep": {nested},', 1)
    assert deep != text
    (folder / "deep.json").write_text(deep, encoding="utf-8")
    (folder / "bytes.json").write_bytes(b"\xff\x00\xfe")
    (folder / "empty.json").write_text("", encoding="utf-8")
    (folder / "list.json").write_text("[1]", encoding="utf-8")
    for name, changed in {
        "version": {"schema_version": 99},
        "time": {"created": "soon"},
        "number": {"batch_size": 10**400},
        "cores": {"machine": {"cores": 1e308}, "worker_points": []},
        "absurd": {"worker_points": [], "device_points": []},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(values | changed), encoding="utf-8")
    keep(folder, "sound")

    assert found(folder) == "2026-11-22T03:00:00+00:00"
