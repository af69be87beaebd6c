"""Writing a file: whole, and never over another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import smtc_lab as lab
from smtc_lab.errors import StoreError
from smtc_lab.views.share.shared import shared
from tests.kit.scaling import TrueStep, made_scaling, scaling_runs
from tests.views.share.files_kit import (
    outcome,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_written_whole_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "new" / "outcome.html"

    assert lab.share(outcome(), path) == path

    first = path.read_text(encoding="utf-8")
    with pytest.raises(StoreError, match=r"outcome\.html' is there already\. Give another"):
        lab.share(outcome(), path)
    assert path.read_text(encoding="utf-8") == first
    lab.share(outcome(emulated=False), path, overwrite=True)
    assert path.read_text(encoding="utf-8") != first
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "outcome.html"

    def page_of(*_: object, **__: object) -> str:
        path.write_text("of somebody else", encoding="utf-8")
        return "ours"

    monkeypatch.setattr("smtc_lab.views.share.share.page", page_of)

    with pytest.raises(StoreError, match="is there already"):
        lab.share(outcome(), path)
    assert path.read_text(encoding="utf-8") == "of somebody else"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_that_cannot_be_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(StoreError, match=r"cannot be written: .*Choose a path"):
        lab.share(outcome(), tmp_path / "file" / "outcome.html")


def test_a_scaling_result_is_one_page_with_its_numbers_and_losses(tmp_path: Path) -> None:
    truth = {1: TrueStep(), 2: TrueStep(rest_s=0.03, exposed_comm_s=0.02)}
    scaling = made_scaling(*scaling_runs(truth))

    page = lab.share(scaling, tmp_path / "scaling.html").read_text(encoding="utf-8")

    told = shared(scaling)
    assert (told.kind, told.goes_on, told.is_emulated) == ("scaling", False, False)
    assert told.saved["info"]["sections"][0]["values"]["curves"][0]["points"][1]["devices"] == 2
    assert "exposed communication (ms/step)" in page
    assert 'http-equiv="Content-Security-Policy"' in page


def test_what_cannot_be_shared_is_named_with_what_can() -> None:
    with pytest.raises(TypeError, match=r"type 'dict' cannot be shared\. Give a Run"):
        shared({})  # type: ignore[arg-type]
