"""Who stands still, told by a clock of the test's: no second of it passes here."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from smtc_lab.instance.description import InstanceDescription, Rendezvous, trainers_of
from smtc_lab.instance.progress import StepCounters, progress_file
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.runtime.agent import Agent
from smtc_lab.runtime.ranks import hang_watch
from smtc_lab.runtime.ranks.hang_watch import HangWatch, Hung
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.sink import open_sink

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIMIT_S = 30.0
IN_TORCH = (
    f'Current thread 0x1 (most recent call first):\n  File "{os.sep}torch{os.sep}c10d.py"'
)
IN_SCRIPT = 'Current thread 0x1 (most recent call first):\n  File "train.py", line 3 in wait\n'


@dataclass
class Trainer:
    rank: int
    pid: int
    exit_code: int | None = None
    is_done: bool = False
    has_said_why: bool = False
    last_step_s: float | None = None


class Instance:
    """Two trainers, what they have used, and the time."""

    def __init__(
        self, folder: RunFolder, monkeypatch: pytest.MonkeyPatch, groups: int, hung_after: str
    ) -> None:
        self.told = told = InstanceDescription(
            run_folder=str(folder.path),
            host="algo-1",
            hosts={"algo-1": "127.0.0.1"},
            instance_groups=(("here", "local", 1),),
            trainers=trainers_of([0, 1]),
            rendezvous=Rendezvous(
                host="algo-1", world_size=2 * groups, group_rank=0, num_groups=groups
            ),
            command=("python", "train.py"),
            hyperparameters={},
            channels={},
            environment={"TRAINERS_HUNG_AFTER_S": hung_after} if hung_after else {},
            num_cpus=2,
            num_gpus=0,
            cpu_quota_cores=None,
            grace_s=1.5,
        )
        self.now_s = self.used_s = self.waited_s = 0.0
        self.stacks = [IN_TORCH, IN_TORCH]
        self.trainers = [Trainer(0, 10**9), Trainer(1, 10**9 + 1)]
        self.counters = [StepCounters(progress_file(folder, "algo-1", it)) for it in (0, 1)]
        self._logs = [folder.log_file("algo-1", rank) for rank in (0, 1)]
        for log in self._logs:
            log.touch()
        monkeypatch.setattr(hang_watch, "send_signal", self._write_stacks)
        self.watch = HangWatch(
            told,
            folder,
            cast("Sequence[Any]", self.trainers),
            now=lambda: self.now_s,
            make_clock=lambda: cast("Any", self),
        )

    def look(self, _pids: Iterable[int]) -> tuple[float, float]:
        """Be the clock of CPU time, too."""
        return self.used_s, self.waited_s

    def steps(self, *counts: int, each_s: float = 1.0) -> None:
        """Let time pass in which trainers take steps, looked at after each."""
        for number in range(max(counts)):
            self.now_s += each_s
            for counter, count in zip(self.counters, counts, strict=True):
                if number < count:
                    counter.stepped()
            assert self.watch.look() is None

    def stand(self, seconds: float, *, used: float = 0.0, waited: float = 0.0) -> Hung | None:
        """Let time pass without a step; return what was told at its end."""
        told = None
        for _ in range(round(seconds)):
            self.now_s += 1.0
            self.used_s += used
            self.waited_s += waited
            told = self.watch.look()
        return told

    def _write_stacks(self, _pids: list[int], _number: int) -> None:
        for log, stack in zip(self._logs, self.stacks, strict=True):
            log.write_text(log.read_text("utf-8") + stack, "utf-8")


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instance:
    return made(tmp_path, monkeypatch)


def made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, groups: int = 1, hung_after: str = ""
) -> Instance:
    folder = RunFolder.create(tmp_path, "train-1")
    folder.instance("algo-1").mkdir(parents=True)
    folder.log_file("algo-1", 0).parent.mkdir(parents=True, exist_ok=True)
    return Instance(folder, monkeypatch, groups, hung_after)


def test_who_stands_still_as_long_as_the_limit_is_told(instance: Instance) -> None:
    instance.steps(5, 4)

    assert instance.stand(LIMIT_S - 1) is None
    hung = instance.stand(2)
    assert hung is not None
    assert hung.seconds == pytest.approx(LIMIT_S, abs=1.0)
    assert cast("Any", hung.culprit).rank == 1  # it took the fewest steps


def test_the_one_that_does_not_wait_in_torch_is_the_culprit(instance: Instance) -> None:
    instance.stacks = [IN_SCRIPT, IN_TORCH]
    instance.steps(4, 4)

    hung = instance.stand(LIMIT_S + 1)

    assert hung is not None
    assert cast("Any", hung.culprit).rank == 0
    assert "train.py" in hung.stack


@pytest.mark.parametrize("taken", [{"used": 1.0}, {"waited": 0.9}], ids=["computes", "starves"])
def test_a_pause_in_which_one_computes_or_gets_no_cpu_is_no_hang(
    instance: Instance, taken: dict[str, float]
) -> None:
    instance.steps(4, 4)

    assert instance.stand(10 * LIMIT_S, **taken) is None
    assert instance.stand(LIMIT_S + 1) is not None


def test_who_takes_slow_steps_has_as_much_more_time(instance: Instance) -> None:
    instance.steps(6, 6, each_s=10.0)

    assert instance.stand(19 * 10.0) is None
    assert instance.stand(2 * 10.0) is not None


def test_before_the_first_step_and_after_the_last_nobody_hangs(instance: Instance) -> None:
    assert instance.stand(10 * LIMIT_S) is None
    instance.steps(4, 4)
    instance.trainers[1] = replace(instance.trainers[1])
    instance.watch._trainers[1].is_done = True

    assert instance.stand(10 * LIMIT_S) is None


def test_where_all_wait_those_of_another_instance_may_tell_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = made(tmp_path, monkeypatch, groups=2)
    instance.steps(4, 4)

    told = [instance.stand(1) for _ in range(round(LIMIT_S) + 10)]

    first = next(place for place, hung in enumerate(told) if hung is not None)
    assert first + 1 == pytest.approx(LIMIT_S + 5, abs=1.0)
    assert told[-1] is not None
    assert told[-1].culprit is None


def test_a_standstill_is_news_once_and_again_after_they_have_moved(instance: Instance) -> None:
    news = []
    for _ in range(2):
        instance.steps(4, 4)
        for _ in range(round(3 * LIMIT_S)):
            instance.now_s += 1.0
            news.append(instance.watch.news())

    assert sum(hung is not None for hung in news) == 2


def test_it_is_a_warning_with_rank_and_line_in_events_and_log_and_ends_nothing(
    instance: Instance,
) -> None:
    script = f"{os.sep}code{os.sep}train.py"
    told = replace(instance.told, command=("python", script))
    instance.stacks[1] = (
        f'{IN_SCRIPT.partition("  File")[0]}  File "{script}", line 3 in wait\n'
    )
    folder = RunFolder(Path(told.run_folder))
    agent = Agent(told)
    agent._entry_points = cast("list[Any]", instance.trainers)
    agent._hang_watch = instance.watch
    agent._writer = open_sink(folder.system_records("algo-1"))
    instance.steps(5, 5)
    instance.now_s += LIMIT_S / 2
    instance.watch.look()

    instance.now_s += LIMIT_S / 2
    decisive = agent._late()
    agent._writer.close()

    assert decisive is None
    (event,) = read_records(folder.system_records("algo-1"), EventRecord)[0]
    assert (event.kind, event.host) == ("warning", "algo-1")
    assert event.message.startswith("Rank 1 on algo-1 has stood still since ")
    assert "UTC (30 s), in wait (train.py, line 3), and the others wait" in event.message
    log = folder.log_file("algo-1", 1).read_text("utf-8")
    assert log.endswith(f"smtc-lab: {event.message}\n")


@pytest.mark.parametrize(
    ("hung_after", "is_on", "ends"), [("", True, False), ("5", True, True), ("0", False, True)]
)
def test_the_job_says_whether_a_standstill_ends_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hung_after: str,
    is_on: bool,  # noqa: FBT001  a case
    ends: bool,  # noqa: FBT001  as above
) -> None:
    watch = made(tmp_path, monkeypatch, hung_after=hung_after).watch

    assert (watch.is_on, watch.ends_the_run) == (is_on, ends)
