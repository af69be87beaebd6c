from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.checkpoint import load_checkpoint, save_checkpoint

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def save(folder: Path, step: int) -> Path:
    return save_checkpoint(folder, {"weight": torch.full((3,), float(step))}, step=step)


def newest_step(folder: Path) -> int | None:
    loaded = load_checkpoint(folder)
    return None if loaded is None else loaded[1]


def test_a_checkpoint_comes_back_as_it_was(folder: Path) -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": 3,
        "note": "ok",
    }

    mark = save_checkpoint(folder, state, step=7)
    loaded = load_checkpoint(folder)

    assert loaded is not None
    found, step = loaded
    assert step == 7
    assert (found["epoch"], found["note"]) == (3, "ok")
    assert torch.equal(found["model"]["weight"], model.weight)
    assert found["optimizer"]["state"][0]["step"] == 1
    assert mark == folder / "step-000000000007.json"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".pt"]


def test_no_folder_and_an_empty_folder_hold_no_checkpoint(folder: Path) -> None:
    assert load_checkpoint(folder) is None
    folder.mkdir()
    assert load_checkpoint(folder) is None


def test_the_newest_checkpoint_wins_whatever_was_written_last(folder: Path) -> None:
    for step in (9, 1_000_000, 10):
        save(folder, step)

    assert newest_step(folder) == 1_000_000


def test_a_step_can_be_written_again(folder: Path) -> None:
    save(folder, 5)
    save_checkpoint(folder, {"weight": torch.zeros(1)}, step=5)

    loaded = load_checkpoint(folder)
    assert loaded is not None
    assert loaded[0]["weight"].shape == (1,)


def lose_mark(mark: Path) -> None:
    mark.unlink()


def lose_tensors(mark: Path) -> None:
    mark.with_suffix(".pt").unlink()


def cut_tensors(mark: Path) -> None:
    os.truncate(mark.with_suffix(".pt"), 100)


def flip_a_bit(mark: Path) -> None:
    data = bytearray(mark.with_suffix(".pt").read_bytes())
    data[len(data) // 2] ^= 1
    mark.with_suffix(".pt").write_bytes(data)


def cut_mark(mark: Path) -> None:
    mark.write_text(mark.read_text(encoding="utf-8")[:10], encoding="utf-8")


def empty_mark(mark: Path) -> None:
    mark.write_text("{}", encoding="utf-8")


def strange_mark(mark: Path) -> None:
    mark.write_text("[]", encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [lose_mark, lose_tensors, cut_tensors, flip_a_bit, cut_mark, empty_mark, strange_mark],
)
def test_a_damaged_checkpoint_is_passed_over(folder: Path, damage: Any) -> None:
    save(folder, 1)
    newest = save(folder, 2)

    damage(newest)

    assert newest_step(folder) == 1


def test_an_interrupted_write_leaves_the_older_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(folder, 1)

    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path), text)

    monkeypatch.setattr("smtc_lab.runtime.checkpoint.replace_file", full)
    with pytest.raises(OSError, match="No space left"):
        save(folder, 2)

    assert newest_step(folder) == 1
    assert not list(folder.glob("*.draft"))


def test_a_state_that_cannot_be_written_leaves_no_draft(folder: Path) -> None:
    with pytest.raises(EntryPointError, match=r"cannot hold transform, .*could run code"):
        save_checkpoint(folder, {"transform": lambda x: x}, step=1)

    assert not folder.exists()


class Opinion:
    pass


def test_objects_that_cannot_be_loaded_safely_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written by a version that did not look at what it saved."""
    monkeypatch.setattr("smtc_lab.runtime.checkpoint.plain", lambda value, _: value)
    save_checkpoint(folder, {"opinion": Opinion()}, step=1)

    with pytest.raises(
        EntryPointError, match=r"'step-0+1' in .*loaded safely.*Save state dicts"
    ):
        load_checkpoint(folder)


def test_the_checkpoints_of_somebody_else_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(folder, 1)
    stranger = os.geteuid() + 1
    monkeypatch.setattr("smtc_lab.runtime.checkpoint.os.geteuid", lambda: stranger)

    with pytest.raises(EntryPointError, match=r"belong to another user.*run their code"):
        load_checkpoint(folder)


def test_a_mark_tells_size_and_hash(folder: Path) -> None:
    mark = save(folder, 4)

    facts = json.loads(mark.read_text(encoding="utf-8"))

    assert facts["step"] == 4
    assert facts["size_bytes"] == mark.with_suffix(".pt").stat().st_size
    assert len(facts["sha256"]) == 64
