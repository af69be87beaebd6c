"""Every command that launches a study can say in which folder its launches work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.examples import example
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable

    SmtcLab = Callable[..., Any]

COMMANDS = {
    "compare": ("smtc_lab.study.comparison.compare.compare", ["--cluster", "here=local"]),
    "scale": ("smtc_lab.study.scaling.scale.launch_scaling", ["--cluster", "here=local"]),
    "batch-size": ("smtc_lab.study.batch.size.find_batch_size", []),
    "plan": ("smtc_lab.planner.calibration.calibrate.calibrate", []),
    "prove-resume": ("smtc_lab.study.resuming.prove.prove_resume", []),
}


def _first_of(jobs: Any) -> Any:
    return jobs if isinstance(jobs, TrainingJob) else jobs[0]


@pytest.mark.parametrize("asked", ["own", "here", None])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_folder_is_chosen(
    smtc_lab: SmtcLab, command: str, asked: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def begin(given: Any, **values: Any) -> NoReturn:
        begun.append(values if "working_dir" in values else dict(_first_of(given)))
        raise SpecError("It was begun.")

    begins, options = COMMANDS[command]
    monkeypatch.setattr(begins, begin)
    chosen = [] if asked is None else ["--working-dir", asked]

    said = smtc_lab(command, *options, *chosen, example("plain_loop"))

    assert "It was begun." in said.err
    assert [values["working_dir"] for values in begun] == [asked]


@pytest.mark.parametrize("command", COMMANDS)
def test_another_folder_is_refused_by_name(smtc_lab: SmtcLab, command: str) -> None:
    said = smtc_lab(command, "--working-dir", "there", example("plain_loop"))

    assert said.exit_code == 2
    assert "'there' is not one of 'own', 'here'" in said.err
