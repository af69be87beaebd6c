"""What a notebook keeps of a run: HTML, picture, text, and our own type."""

from __future__ import annotations

import base64
import html
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from smtc_lab.errors import ViewError
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.kept import bundle_at, drawn_elsewhere
from smtc_lab.views.run.kind import RUN
from smtc_lab.views.run.snapshot import RunSnapshot, curve, first_look, take_snapshot
from smtc_lab.views.run.words import bars, run_text
from smtc_lab.views.text.format import TIMES
from tests.kit.hostile import HOSTILE_TEXTS, markup_of
from tests.kit.records import HETEROGENEOUS, jittered, run_records, step_record
from tests.kit.run_folders import write_many_steps, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def snapshot(tmp_path: Path) -> RunSnapshot:
    run = run_records(
        [1.0, *jittered(0.2, 60)],
        cluster=HETEROGENEOUS,
        emulation=Emulation(time_dilation=20.0, device_step_time_s=0.05),
        device_time_s=0.05,
    )
    return take_snapshot(write_run_folder(tmp_path, run))


def words_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split()).replace("\xa0", " ")


def test_a_process_of_its_own_makes_a_bundle_of_every_form(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2] * 30))

    bundle = drawn_elsewhere(folder.path)

    assert set(bundle) == {RUN.mime, "text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["image/png"] in bundle["text/html"]
    assert bundle["text/plain"].startswith("train-r1: Completed\n")
    assert bundle[RUN.mime]["info"]["job_name"] == "train-r1"


def test_a_bundle_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2]))
    folder.job_file.write_text("torn")

    with pytest.raises(ViewError, match=r"picture of run 'train-r1'.*job of run.*display the"):
        drawn_elsewhere(folder.path)


def test_a_saved_run_says_what_its_numbers_are(snapshot: RunSnapshot) -> None:
    words = words_of(RUN.html(snapshot))

    assert "emulated, cluster time (1 s of it took 20 s here)" in words
    assert "declared device time 50 ms per step" in words
    assert "cost of 1,000 steps" in words
    assert f"group data_group: 1 {TIMES} ml.c5.9xlarge, data" in words


def test_a_run_on_this_machine_has_no_price_to_be_unknown(tmp_path: Path) -> None:
    folder = write_run_folder(
        tmp_path, run_records([0.2] * 30, cluster="here=local:1"), usd_per_hour=None
    )

    text = run_text(take_snapshot(folder))

    assert re.search(r"cost +none: on this machine, nothing is billed", text)
    assert "price unknown" not in text


@pytest.mark.parametrize("tells", [True, False])
def test_each_of_several_trainers_has_a_row(tmp_path: Path, *, tells: bool) -> None:
    run = run_records([0.2], cluster="dnn_group=ml.p3.2xlarge:2")
    waits = ({"rank_wait_s": 0.05, "exposed_comm_s": 0.01}, {"rank_wait_s": 0.0})
    steps = {
        f"algo-{rank + 1}-rank{rank}": [
            step_record(
                step=step,
                end_time_s=1_793_701_000.0 + 0.2 * step,
                step_time_s=0.2,
                data_wait_s=0.02,
                **({"exposed_comm_s": 0.01, **fields} if tells else {}),
            )
            for step in range(30)
        ]
        for rank, fields in enumerate(waits)
    }

    snapshot = take_snapshot(write_run_folder(tmp_path, replace(run, steps=steps)))

    words = words_of(RUN.html(snapshot))
    wait, exposed = ("50 ms", "10 ms") if tells else ("unknown", "unknown")
    assert (
        "rank 0 on algo-1: step 0.2 s: waits for data 20 ms, for slower trainers "
        f"{wait}, exposed communication {exposed}"
    ) in words
    assert "rank 1 on algo-2" in run_text(snapshot)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_are_text(tmp_path: Path, text: str) -> None:
    run = run_records([0.2] * 8)
    run.events[:] = [EventRecord(time_s=1.0, kind="data", host=text, message=text)]
    snapshot = take_snapshot(write_run_folder(tmp_path, run, reason=text))
    group = replace(snapshot.info.groups[0], name=text)
    info = replace(snapshot.info, job_name=text, entry_point=text, groups=(group,))
    hostile = replace(snapshot, info=info)

    page = RUN.html(hostile)

    assert markup_of(page) <= {"div", "em", "li", "span", "strong", "ul"} | {
        f"@{name}" for name in ("aria-hidden", "aria-label", "class", "role", "style")
    }
    assert "\x1b" not in run_text(hostile)


def test_many_steps_are_kept_in_little(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([], state="Completed"))
    write_many_steps(folder.records / "algo-1-rank0.sqlite", 20_000, spike_at=17_000)

    kept = json.dumps(take_snapshot(folder).as_dict())

    assert len(kept) < 200_000
    assert max(json.loads(kept)["tables"]["steps"]["high"][2]) == 9.0


def test_json_knows_no_nan(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2] * 5))

    text = json.dumps(take_snapshot(folder).as_dict(), allow_nan=False)

    assert json.loads(text)["tables"]["steps"]["mean"][4] == [None] * 5


def test_the_first_look_reads_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2] * 5, state="InProgress"))
    monkeypatch.setattr(
        "smtc_lab.store.steps.columns.query", lambda *_: pytest.fail("it was read")
    )

    words = words_of(RUN.html(first_look(folder)))

    assert words.startswith("train-r1 Running")
    assert "steps" not in words


def test_a_run_without_a_step_is_kept_too(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([], state="Failed"), reason="It broke.")

    bundle = bundle_at(folder.path)

    assert "It broke." in words_of(bundle["text/html"])
    assert bundle[RUN.mime]["tables"].keys() == {"system:algo-1"}


def test_bars_rise_with_their_values() -> None:
    assert bars(np.array([0.0, 0.5, 1.0, np.nan]), 1.0) == "▁▅█ "
    assert len(bars(np.arange(1000.0), 1000.0)) == 28


def test_a_curve_keeps_extremes_and_skips_what_is_unknown() -> None:
    rows = np.array([np.arange(1000.0), np.full(1000, np.nan)])
    rows[0, 500] = -7.0

    small = curve(["a", "b"], rows, most_bins=100)

    assert small.mean.shape[1] <= 100
    assert small.low[0].min() == -7.0
    assert np.isnan(small.mean[1]).all()
