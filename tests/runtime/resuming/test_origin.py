"""What a checkpoint says of who wrote it, and what does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

import smtc_lab
from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.trainers import Trainers
from smtc_lab.runtime.checkpoint import load_checkpoint, save_checkpoint
from smtc_lab.runtime.resuming.parts import KeptParts

if TYPE_CHECKING:
    from pathlib import Path


def trained() -> None:
    """Go on, and take a step."""
    kept = smtc_lab.Session().checkpoint(model=nn.Linear(2, 2))
    kept.step += 1
    kept.save()
    kept.close()


def test_a_checkpoint_says_who_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    monkeypatch.setattr("torch.__version__", "2.0.\x1b[0m")
    trained()
    monkeypatch.undo()
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    (folder,) = tmp_path.glob("checkpoints/resume/rank0")
    found = load_checkpoint(folder)
    assert found is not None
    assert (found[0]["attempt"], found[0]["torch"]) == (1, "2.0.\x1b[0m")

    capsys.readouterr()
    trained()
    said = capsys.readouterr().out
    assert f"is of torch 2.0.\ufffd[0m, and this is torch {torch.__version__}: " in said
    trained()
    assert "is of torch" not in capsys.readouterr().out, "it was written anew"

    save_checkpoint(folder, {"format": 2}, step=99)
    with pytest.raises(
        EntryPointError, match=r"has format 2, and this smtc_lab reads format 1"
    ):
        trained()


def test_another_model_is_told_of_several_trainers_as_of_one() -> None:
    def parts(model: nn.Module) -> KeptParts:
        one = Trainers(world_size=1, layout=None, is_bf16=False, say=lambda *_: None)
        return KeptParts({"model": model}, trainers=one, rank=0, world_size=1)

    state, said = parts(nn.Linear(2, 2)).state(), []
    for before in (1, 2):
        with pytest.raises(EntryPointError, match="model of the checkpoint of step 4") as told:
            parts(nn.Linear(2, 3)).give(state, step=4, world_size=before)
        said.append(str(told.value))

    assert said[0] == said[1]
    assert "is another one than the script's: size mismatch for bias" in said[0]
