from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.run import summary as run_summary
from smtc_lab.views.run.describer import RunDescriber
from smtc_lab.views.run.snapshot import take_snapshot
from tests.kit.compilers import INDUCTOR, compiled_run, compiler_report
from tests.kit.records import jittered, run_records
from tests.kit.run_folders import set_state, write_many_steps, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.views.text.findings import FindingInfo

NOBODY = Stream(lambda _content, _buffers: None)


class Clock:
    """Stands still, unless it is told."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(run_summary, "time", clock)
    return clock


class Viewed:
    """A run that a view follows."""

    def __init__(self, folder: RunFolder) -> None:
        self.follower = RunFollower(folder, NOBODY)
        self.describer = RunDescriber(self.follower)

    def findings(self, *, last: bool = False) -> tuple[FindingInfo, ...]:
        self.follower.look()
        self.describer.look(last=last)
        return self.describer.describe().findings


@pytest.mark.parametrize("num_ranks", [1, 3])
def test_findings_come_as_the_run_grows_and_are_those_of_the_finished_one_at_its_end(
    tmp_path: Path, clock: Clock, num_ranks: int
) -> None:
    run = run_records(
        jittered(0.2, 90),
        cluster=f"dnn_group=ml.p3.2xlarge:{num_ranks}",
        state="InProgress",
        cpu_used_fraction=0.95,
        device_time_s=0.06,
    )
    (steps,) = run.steps.values()
    run.steps.update({f"algo-{rank + 1}-rank{rank}": [] for rank in range(num_ranks)})
    folder = write_run_folder(tmp_path, run)
    viewed = Viewed(folder)

    seen = []
    for first in range(0, 90, 10):
        for rank in run.steps:
            with RecordWriter(folder.records / f"{rank}.sqlite") as writer:
                for record in steps[first : first + 10]:
                    writer.append(record)
        clock.now_s += 60.0
        seen.append(len(viewed.findings()))
    set_state(folder, "Completed", run=run)

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 1)
    assert viewed.findings(last=True) == take_snapshot(folder).info.findings
    assert "CPU-bound" in viewed.findings(last=True)[0].sentence


def test_a_compilers_report_is_read_again_when_it_changes(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smtc_lab.follow.run_follower._STATE_S", 0.0)
    run = compiled_run(INDUCTOR, name="it", step_time_s=0.1, state="InProgress")
    folder = write_run_folder(tmp_path, run)
    reports = folder.path / "instances/algo-1/opt/ml/output/data/compiler"
    reports.mkdir(parents=True)
    (report,) = run.compiler.values()
    (reports / "report-rank0.json").write_text(report.model_dump_json())
    viewed = Viewed(folder)
    first = viewed.findings()
    (steps,) = run.steps.values()
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        writer.append(steps[-1])
    troubled = compiler_report(fused_optimizer=False)
    (reports / "report-rank0.json").write_text(troubled.model_dump_json())
    clock.now_s += 60.0

    assert first == ()
    assert "torch has no fused kernel" in viewed.findings()[0].sentence


def test_a_long_run_is_looked_at_too(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([]))
    path = folder.records / "algo-1-rank0.sqlite"
    write_many_steps(path, 200_000)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE step_record SET data_wait_s = 0.05")

    (finding,) = take_snapshot(folder).info.findings

    assert "waits for data in 50 % of each step" in finding.sentence


def test_a_look_for_findings_comes_only_after_twenty_times_what_the_last_one_took(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def slowly(*_arguments: object, **_options: object) -> tuple[()]:
        looks.append(clock.now_s)
        clock.now_s += 2.0
        return ()

    monkeypatch.setattr("smtc_lab.rules.find.RunRules.look", slowly)
    run = run_records([0.2] * 5, state="InProgress")
    folder = write_run_folder(tmp_path, run)
    viewed = Viewed(folder)
    (steps,) = run.steps.values()

    for clock.now_s in (100.0, 139.0, 140.0):
        with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
            writer.append(steps[-1])
        viewed.findings()

    assert looks == [100.0, 140.0]
