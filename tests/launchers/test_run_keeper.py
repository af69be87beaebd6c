"""What is written down of a run says what its user can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.launchers.supervision.run_keeper import RunKeeper
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import read_state
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

TOO_LATE = Outcome(state="Stopped", reason="MaxWaitTimeExceeded: it took too long. Raise it.")


def keeper_of(folder: RunFolder) -> RunKeeper:
    folder.records.mkdir(parents=True, exist_ok=True)
    return RunKeeper(folder, hosts=["algo-1"], facts={})


@pytest.mark.parametrize(
    ("attempts", "steps", "is_hopeless"), [(3, 0, True), (3, 1, False), (1, 0, False)]
)
def test_waiting_longer_is_no_advice_where_no_attempt_comes_to_a_step(
    tmp_path: Path,
    attempts: int,
    steps: int,
    is_hopeless: bool,  # noqa: FBT001  a parameter of the test
) -> None:
    folder = RunFolder(tmp_path / "run")
    keeper = keeper_of(folder)
    writer = RecordWriter(folder.records / "algo-1-rank0.sqlite")
    for step in range(steps):
        writer.append(step_record(step=step))
    writer.close()
    for _ in range(attempts):
        keeper.begin()
        keeper.interrupted("The market took them.")
    keeper.finish(TOO_LATE)

    state = read_state(folder)
    assert state.secondary == "MaxWaitTimeExceeded"
    assert ("went before the first one" in state.reason) is is_hopeless
    assert ("Raise it" in state.reason) is not is_hopeless


def test_an_attempt_that_goes_on_tells_how_the_one_before_ended(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    keeper = keeper_of(folder)
    keeper.begin()
    keeper.finish(Outcome(state="Failed", reason="Its trainer was killed.\nIts log."))
    again = keeper_of(folder)
    again.begin()
    again.interrupted("The market took them.")
    again.begin()
    again.leave()

    events, _ = read_records(folder.records / "run.sqlite", EventRecord)
    assert [one.message for one in events if one.kind == "attempt"] == [
        "Attempt 2 begins. Attempt 1 had ended: Its trainer was killed.",
        "Attempt 3 begins.",
    ]
