"""``smtc-lab prove-resume`` succeeds only where a killed script went on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.examples import example
from smtc_lab.study.resuming.proof import ResumeDifference, ResumeProof

if TYPE_CHECKING:
    from collections.abc import Callable

    SmtcLab = Callable[..., Any]


@pytest.mark.parametrize(
    ("equal", "went_on_from", "exit_code"),
    [(True, (0, 20), 0), (True, (0, 0), 1), (False, (20, 30), 1)],
)
def test_a_script_that_begins_anew_has_proved_nothing(
    smtc_lab: SmtcLab,
    monkeypatch: pytest.MonkeyPatch,
    equal: bool,  # noqa: FBT001  a parameter of the test
    went_on_from: tuple[int, ...],
    exit_code: int,
) -> None:
    proof = ResumeProof(
        equal=equal,
        steps=40,
        ranks=1,
        interrupted_at=(10, 25),
        went_on_from=went_on_from,
        first_difference=None if equal else ResumeDifference(what="batch", step=3, rank=0),
        runs=("whole", "killed"),
    )
    monkeypatch.setattr("smtc_lab.study.resuming.prove.prove_resume", lambda *_, **__: proof)

    said = smtc_lab("prove-resume", example("plain_loop"))

    assert said.exit_code == exit_code
    assert ("It does not go on: killed 2 times" in said.out) is proof.began_anew
