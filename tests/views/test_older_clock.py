"""A comparison of before there was a time dilation, beside one of today."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.records.cluster_time import OLD_CLOCK
from smtc_lab.store.reader import read_job
from smtc_lab.store.run_folder import find_runs
from smtc_lab.views.comparison.bundle import bundle_of
from smtc_lab.views.comparison.kind import COMPARISON
from smtc_lab.views.study.snapshot import study_snapshot
from smtc_lab.views.text.emulated import of_run
from smtc_lab.views.text.table import comparison_table
from tests.kit.comparisons import example_comparison
from tests.kit.ended_comparisons import write_ended_comparison

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.study.comparison.comparison_run import ComparisonRun

NEW_CLOCK = "cluster time"


def as_before(text: str) -> str:
    """Return what an older version wrote: it knew of no time dilation."""
    values = json.loads(text)
    values["emulation"].pop("time_dilation")
    return json.dumps(values)


def made_older(study: ComparisonRun, root: Path) -> None:
    """Change the files of a comparison to what an older version left."""
    files = [study.folder.result_file("comparison")]
    files += [folder.job_file for folder in find_runs(root)]
    for file in files:
        file.write_text(as_before(file.read_text(encoding="utf-8")), encoding="utf-8")
    request = json.loads(study.folder.request_file.read_bytes())
    for job in request["jobs"]:
        job["emulation"].pop("time_dilation")
    study.folder.request_file.write_text(json.dumps(request), encoding="utf-8")


@pytest.mark.parametrize("view", ["table", "bundle"])
def test_an_older_comparison_beside_a_new_one_names_its_own_clock(view: str) -> None:
    new, _ = example_comparison()
    old = Comparison.from_json(as_before(new.to_json()))

    texts = [
        comparison_table(each) if view == "table" else bundle_of(each)["text/plain"]
        for each in (old, new)
    ]

    old_text, new_text = (" ".join(text.split()) for text in texts)
    assert OLD_CLOCK in old_text
    assert f"Steps are told in {OLD_CLOCK}" in old_text
    assert NEW_CLOCK not in old_text
    assert NEW_CLOCK in new_text
    assert OLD_CLOCK not in new_text


def test_older_folders_name_their_clock_in_each_view(tmp_path: Path) -> None:
    old_root, new_root = tmp_path / "old" / "runs", tmp_path / "new" / "runs"
    old, new = write_ended_comparison(old_root), write_ended_comparison(new_root)
    made_older(old, old_root)

    assert OLD_CLOCK in study_snapshot(COMPARISON, old).info.scale
    assert NEW_CLOCK in study_snapshot(COMPARISON, new).info.scale
    for root, clock in ((old_root, OLD_CLOCK), (new_root, NEW_CLOCK)):
        assert all(clock in of_run(read_job(folder)) for folder in find_runs(root))
