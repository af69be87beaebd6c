"""A run of 64 instances with 8 trainers each, in every view of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from smtc_lab.cli import cli
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.store import query
from smtc_lab.views.run.listed import ListedRun
from smtc_lab.views.run.snapshot import take_snapshot
from smtc_lab.views.run.words import run_text
from tests.kit.run_folders import ManyRanks, set_state, write_many_ranks, write_rows

STEPS = 40


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> ManyRanks:
    root = tmp_path_factory.mktemp("runs")
    return write_many_ranks(root, STEPS, instances=64, per_instance=8, state="Completed")


def test_the_description_tells_all_trainers_and_maps_the_slowest(many: ManyRanks) -> None:
    info = take_snapshot(many.folder).info

    assert info.steps == STEPS
    assert info.problem == ""
    assert info.summary is not None
    assert info.spread is not None
    assert info.spread.trainers == 512
    assert [one.rank for one in info.summary.ranks] == list(range(512))
    assert info.summary.ranks[-1].host == "algo-64"
    warm_up = info.summary.warm_up_steps
    measured_s = many.fields["step_time_s"][:, warm_up:]
    assert [one.step_time_s for one in info.summary.ranks] == pytest.approx(
        measured_s.mean(axis=1)
    )
    assert info.summary.step_time_s.mean == pytest.approx(measured_s.max(axis=0).mean())
    own_s = measured_s - sum(
        many.fields[name][:, warm_up:] for name in ("exposed_comm_s", "rank_wait_s")
    )
    slowest = np.sort(np.argsort(-own_s.mean(axis=1))[:64])
    assert info.rank_map is not None
    assert info.rank_map.trainers == 512
    assert [row.rank for row in info.rank_map.rows] == slowest.tolist()


def test_its_text_has_a_line_for_each_of_the_slowest_and_says_how_many_others_there_are(
    many: ManyRanks,
) -> None:
    words = run_text(take_snapshot(many.folder))

    assert words.count("  rank ") == 64
    assert "other ranks" in words
    assert "448, which work for less of a step" in words


def test_the_list_of_runs_counts_its_steps(many: ManyRanks) -> None:
    run = ListedRun(many.folder.path)
    run.look({})

    run.look_at_steps()

    assert run.row["steps"] == STEPS
    assert run.row["step_time_s"] is not None


def test_the_command_line_shows_it(many: ManyRanks) -> None:
    shown = CliRunner().invoke(cli, ["runs", "show", str(many.folder.path)])

    assert shown.exit_code == 0, shown.output
    warm_up = re.search(r"steps +(\d+) measured, (\d+) warm-up", shown.output)
    assert warm_up is not None, shown.output
    assert sum(map(int, warm_up.groups())) == STEPS


def test_few_of_its_files_are_open_at_once(
    many: ManyRanks, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 0
    opened = query._open

    def counted(files: list[str]) -> object:
        nonlocal most
        connection = opened(files)
        most = max(most, open_files())
        return connection

    before = open_files()
    monkeypatch.setattr(query, "_open", counted)

    take_snapshot(many.folder)

    assert before < most < before + 128


def test_a_growing_run_of_many_is_looked_at_in_time_and_whole_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = write_many_ranks(tmp_path, 3, instances=9, per_instance=8)
    now_s = [100.0]
    monkeypatch.setattr("smtc_lab.follow.file_pace.time.monotonic", lambda: now_s[0])
    follower = RunFollower(many.folder, Stream(lambda _content, _buffers: None))
    follower.look()

    def one_more() -> None:
        rows = np.stack(list(many.fields.values()), axis=2)[:, -1]
        for path, row in zip(many.paths, rows.tolist(), strict=True):
            write_rows(path, [tuple(row)])

    counts = [follower.steps.num_rows]
    one_more()
    follower.look()
    counts.append(follower.steps.num_rows)
    now_s[0] += 0.1
    follower.look()
    counts.append(follower.steps.num_rows)
    one_more()
    set_state(many.folder, "Completed")
    follower.look()
    counts.append(follower.steps.num_rows)

    assert counts == [3, 3, 4, 5]
