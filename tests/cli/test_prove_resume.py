"""``smtc-lab prove-resume`` succeeds only where a killed script went on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.examples import example
from smtc_lab.spec.distribution import Distribution
from smtc_lab.study.resuming.proof import ResumeDifference, ResumeProof

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    SmtcLab = Callable[..., Any]

SCRIPT = """
import os, time
import torch
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.randn(48, 4)), batch_size=4, shuffle=True)
session.checkpoint(model=model, optimizer=optimizer, every_steps=2)
for (batch,) in session.steps(loader, epochs=2):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(float(os.environ["STEP_S"]))  # steps that can be interrupted
"""


@pytest.mark.parametrize(
    ("equal", "went_on_from", "exit_code"),
    [(True, (0, 20), 0), (True, (0, 0), 1), (False, (20, 30), 1), (True, (0,), 1)],
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
        interrupted_at=(10, 25) if went_on_from[1:] else (),
        went_on_from=went_on_from,
        first_difference=None if equal else ResumeDifference(what="batch", step=3, rank=0),
        runs=("whole", "killed"),
    )
    monkeypatch.setattr("smtc_lab.study.resuming.prove.prove_resume", lambda *_, **__: proof)

    said = smtc_lab("prove-resume", example("plain_loop"))

    assert said.exit_code == exit_code
    assert ("It does not go on: killed 2 times" in said.out) is proof.began_anew
    assert ("It was not killed in time" in said.out) is not proof.was_killed


def proof_of(**changed: Any) -> ResumeProof:
    fields = {"equal": True, "steps": 40, "ranks": 1, "interrupted_at": (10,)}
    begun = {"went_on_from": (0,), "runs": ("whole", "killed")}
    return ResumeProof(**{**fields, **begun, **changed})


def test_what_was_given_is_not_recommended_and_why_it_did_not_help_is_told() -> None:
    why = "It takes batches with next(...)."
    refused = proof_of(is_automatic=True, not_kept=why).verdict

    assert "--resume automatic" in proof_of().verdict
    assert "--resume automatic" not in refused
    assert "keeps no checkpoint" not in refused
    assert why in refused
    found = ResumeDifference(what="batch", step=3, rank=0)
    unequal = proof_of(equal=False, first_difference=found, is_automatic=True, not_kept=why)
    assert why in unequal.verdict


def test_an_epoch_that_begins_with_other_samples_is_no_plain_failure() -> None:
    found = ResumeDifference(what="batch", step=20, rank=0, went_on=True)
    proof = proof_of(equal=False, first_difference=found)

    assert "Model and optimizer did go on from its checkpoint" in proof.verdict


def test_the_set_up_is_that_of_the_options(
    smtc_lab: SmtcLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[TrainingJob] = []

    def begin(job: TrainingJob, **_: object) -> NoReturn:
        begun.append(job)
        raise SpecError("It was begun.")

    monkeypatch.setattr("smtc_lab.study.resuming.prove.prove_resume", begin)
    spread = ("--data", "2", "--shard", "2", "--cluster", "a=local:2,data_group=local:1")
    given = ("--compiler", "inductor", "--env", "MODE=quick", "--loader-workers", "3")

    said = smtc_lab("prove-resume", *spread, *given, "--steps", "9", example("plain_loop"))

    assert "It was begun." in said.err
    (job,) = begun
    assert job.distribution == Distribution(data=2, shard=2)
    assert [group.instance_group_name for group in job.cluster.instance_groups] == [
        "a",
        "data_group",
    ]
    assert job.compiler_config is not None
    assert job.compiler_config.backend == "inductor"
    assert (job.environment, job.num_loader_workers) == ({"MODE": "quick"}, 3)
    assert (job.max_steps, job.seed, job.emulation) == (9, 0, None)


def test_one_set_up_is_proved_at_a_time(smtc_lab: SmtcLab) -> None:
    said = smtc_lab("prove-resume", "--compiler", "eager,inductor", example("plain_loop"))

    assert said.exit_code != 0
    assert "2 set-ups are described" in said.err


def test_a_script_is_proved_from_the_shell(
    smtc_lab: SmtcLab, home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    kept = home / "proof.json"

    options = ("--interruptions", "1", "--seed", "3", "--env", "STEP_S=0.04")
    said = smtc_lab("prove-resume", *options, "--json", kept, script)

    assert said.exit_code == 0, said.out + said.err
    assert "Equal: killed once, it trained the bits of the unbroken run" in said.out
    proof = ResumeProof.model_validate_json(kept.read_text("utf-8"))
    assert (proof.steps, proof.ranks) == (24, 1)
    assert proof.went_on_from[0] > 0
