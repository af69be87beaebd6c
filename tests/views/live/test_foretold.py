"""What was predicted of a study when a form started it, kept beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.result import Interval
from smtc_lab.study.folder import StudyFolder
from smtc_lab.views.live.foretold import Foretold, keep_foretold, kept_foretold
from smtc_lab.views.live.part_use import PartUse

if TYPE_CHECKING:
    from pathlib import Path

FORETOLD = Foretold(
    step_time_s=Interval(mean=0.1, low=0.09, high=0.12, level=0.8, evidence="predicted"),
    usd_per_1000_steps=None,
    use=PartUse(trainer_cpu=0.5, device=0.9),
)


def test_it_is_read_as_it_was_kept(tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path)

    keep_foretold(folder, [FORETOLD, None])

    assert kept_foretold(folder) == (FORETOLD, None)


def test_nothing_is_kept_where_nothing_was_predicted(tmp_path: Path) -> None:
    keep_foretold(StudyFolder(tmp_path), [None, None])

    assert list(tmp_path.iterdir()) == []
    assert kept_foretold(StudyFolder(tmp_path)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema_version": 1}',
        '{"schema_version": 99, "set_ups": []}',
        '{"schema_version": 1, "set_ups": [{"step_time_s": {"mean": NaN}}]}',
        '{"schema_version": 1, "set_ups": [7]}',
    ],
)
def test_what_somebody_tampered_with_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "foretold.json").write_text(text)

    assert kept_foretold(StudyFolder(tmp_path)) == ()


def test_a_link_out_of_the_folder_is_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    keep_foretold(StudyFolder(tmp_path), [FORETOLD])
    (folder / "foretold.json").symlink_to(tmp_path / "foretold.json")

    assert json.loads((folder / "foretold.json").read_text())
    assert kept_foretold(StudyFolder(folder)) == ()
