"""Scripts that keep checkpoints by themselves, as their libraries do, and are killed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.resuming.prove import prove_resume

if TYPE_CHECKING:
    from smtc_lab.study.resuming.proof import ResumeProof

SCRIPTS = Path(__file__).parent / "resumed"
STEPS = 30  # of 36: steps of all attempts count
SAVED_EACH = 5


def proved(name: str, needs: str, root: Path) -> ResumeProof:
    """Kill a script twice, in steps 7 and 23, which are not those in which it saves."""
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    offline = {"HF_HUB_OFFLINE": "1"}
    proof = prove_resume(
        SCRIPTS / f"{name}.py",
        interruptions=2,
        seed=85,
        root=root,
        max_steps=STEPS,
        environment=offline,
    )
    check_each_step_is_there_once(proof, root)
    return proof


def check_each_step_is_there_once(proof: ResumeProof, root: Path) -> None:
    assert (len(proof.interrupted_at), proof.steps) == (2, STEPS)
    for name in proof.runs:
        path = RunFolder(root / name).rank_records("algo-1", 0)
        steps, _ = read_records(path, StepRecord)
        assert [one.step for one in steps] == list(range(STEPS))
    again, _ = read_records(path, AttemptRecord)
    assert [one.attempt for one in again] == [2, 3]
    for one, killed_at in zip(again, proof.interrupted_at, strict=True):
        assert one.first_step > 0
        assert one.first_step % SAVED_EACH == 0
        assert abs(killed_at - one.first_step) <= SAVED_EACH  # it is seen late


@pytest.mark.timeout(300)
def test_the_trainer_of_hugging_face_goes_on_bit_for_bit(tmp_path: Path) -> None:
    proof = proved("hugging_face_trainer", "transformers", tmp_path)

    assert proof.equal, proof.verdict


@pytest.mark.timeout(300)
def test_lightning_goes_on_with_the_first_batches_of_its_epoch(tmp_path: Path) -> None:
    proof = proved("lightning_module", "lightning", tmp_path)

    found = proof.first_difference
    assert found is not None
    # its own: https://github.com/Lightning-AI/pytorch-lightning/issues/18780
    assert (found.what, found.step) == ("batch", proof.went_on_from[0])
