from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.instance.opt_ml import write_opt_ml

FOLDERS = [
    "checkpoints",
    "code",
    "input/config",
    "input/data",
    "model",
    "output/data",
    "output/intermediate",
]


def write(
    base: Path, channels: dict[str, Path] | None = None, **hyperparameters: object
) -> None:
    write_opt_ml(
        base,
        resource_config={"current_host": "algo-1", "hosts": ["algo-1"]},
        hyperparameters=hyperparameters,
        channels=channels or {},
    )


def read(base: Path, name: str) -> object:
    return json.loads((base / "input/config" / name).read_text(encoding="utf-8"))


def snapshot(base: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path.relative_to(base)): (
            path.lstat().st_mode,
            str(path.readlink()) if path.is_symlink() else path.read_text() * path.is_file(),
        )
        for path in sorted(base.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_the_tree_has_every_folder_that_sagemaker_shows(tmp_path: Path) -> None:
    base = tmp_path / "instances/algo-1/opt/ml"

    write(base)

    assert all((base / folder).is_dir() for folder in FOLDERS)


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    write(tmp_path / "opt/ml")

    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_hyperparameters_are_json_texts(tmp_path: Path) -> None:
    write(tmp_path, lr=0.1, name="a", nested={"b": [None, True]})

    assert read(tmp_path, "hyperparameters.json") == {
        "lr": "0.1",
        "name": '"a"',
        "nested": '{"b": [null, true]}',
    }


def test_the_resource_config_is_written_as_given(tmp_path: Path) -> None:
    write(tmp_path)

    assert read(tmp_path, "resourceconfig.json") == {
        "current_host": "algo-1",
        "hosts": ["algo-1"],
    }


def test_a_channel_is_a_link_to_its_folder_and_described_as_sagemaker_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images/0.png").write_bytes(b"png")
    monkeypatch.chdir(tmp_path)

    write(tmp_path / "ml", {"train": Path("images")})

    assert (tmp_path / "ml/input/data/train/0.png").read_bytes() == b"png"
    assert read(tmp_path / "ml", "inputdataconfig.json") == {
        "train": {
            "TrainingInputMode": "File",
            "S3DistributionType": "FullyReplicated",
            "RecordWrapperType": "None",
        }
    }


def test_writing_the_same_tree_again_changes_nothing(tmp_path: Path) -> None:
    base, images = tmp_path / "ml", tmp_path / "images"
    images.mkdir()
    write(base, {"train": images}, lr=0.1)
    (base / "model/model.pt").write_text("weights", encoding="utf-8")
    before = snapshot(base)

    write(base, {"train": images}, lr=0.1)

    assert snapshot(base) == before


def test_writing_again_follows_a_channel_that_moved(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    write(tmp_path / "ml", {"train": tmp_path / "old"})

    write(tmp_path / "ml", {"train": tmp_path / "new"})

    assert (tmp_path / "ml/input/data/train").readlink() == tmp_path / "new"
    assert not any((tmp_path / "old").iterdir())


def test_every_channel_without_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        write(tmp_path / "ml", {"train": tmp_path / "a", "test": tmp_path / "b"})

    assert [problem.split(" reads")[0] for problem in refused.value.problems] == [
        "Channel 'train'",
        "Channel 'test'",
    ]
    assert "is not a folder of this machine. Make the folder" in str(refused.value)
    assert not (tmp_path / "ml").exists()


def test_a_file_in_the_way_of_the_tree_is_named(tmp_path: Path) -> None:
    (tmp_path / "ml").write_text("not a folder", encoding="utf-8")

    with pytest.raises(LauncherError, match=r"tree of an instance cannot be written.*ml.*Free"):
        write(tmp_path / "ml")


def test_a_real_folder_in_the_way_of_a_channel_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "ml/input/data/train"
    kept.mkdir(parents=True)
    (kept / "mine").write_text("mine", encoding="utf-8")

    with pytest.raises(LauncherError, match="train"):
        write(tmp_path / "ml", {"train": tmp_path})

    assert (kept / "mine").read_text(encoding="utf-8") == "mine"
