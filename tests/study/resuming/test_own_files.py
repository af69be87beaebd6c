"""Files that a script writes by itself are compared by their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.resuming.own_files import unlike_files

if TYPE_CHECKING:
    from pathlib import Path


def folder(path: Path, files: dict[str, str]) -> RunFolder:
    made = RunFolder(path)
    for name, text in files.items():
        file = made.opt_ml("algo-1") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return made


def test_files_that_differ_or_are_missing_are_named(tmp_path: Path) -> None:
    same = {"model/last.pt": "a", "output/data/plots/loss.txt": "b"}
    ours = {"output/data/tensors.json": "1", "output/data/compiler/log.txt": "1"}
    one = folder(tmp_path / "one", {**same, **ours, "model/best.pt": "1", "model/x\a": "1"})
    other = folder(tmp_path / "other", {**same, "model/best.pt": "2", "checkpoints/a.pt": "2"})

    assert unlike_files(one, other, ["algo-1", "algo-2"]) == ("model/best.pt", "model/x\ufffd")
    assert not unlike_files(one, one, ["algo-1"])


def test_no_file_outside_of_a_run_is_read(tmp_path: Path) -> None:
    one, other = (folder(tmp_path / name, {"model/a": "1"}) for name in ("one", "other"))
    (tmp_path / "secret").write_text("1", encoding="utf-8")
    file = other.opt_ml("algo-1") / "model" / "a"
    file.unlink()
    file.symlink_to(tmp_path / "secret")

    assert unlike_files(one, other, ["algo-1"]) == ("model/a",)
