"""A folder made anew elsewhere is as the one that it is made of, and never harms it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Self

import pytest

from smtc_lab.machine import copied_files, linked_folder
from smtc_lab.machine.linked_folder import LinkedFolder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return the folder of a user, with a data folder beside it."""
    folder = tmp_path / "home" / "user" / "exp"
    write(folder / "train.py", "pass")
    write(folder / "conf" / "base" / "lr.yaml", "0.1")
    write(folder.parent / "data" / "images.bin", "images")
    write(tmp_path / "home" / "shared.txt", "shared")
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "run-1" / "work"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def many(folder: Path, count: int) -> None:
    for number in range(count):
        write(folder / f"{number}.txt", "")


def made(source: Path, top: Path, **options: object) -> tuple[LinkedFolder, Path]:
    top.mkdir(parents=True)
    linked = LinkedFolder(source, top, **options)
    assert linked.make()
    return linked, top / source.relative_to("/")


def all_of(folder: Path) -> dict[str, str]:
    """Return what a folder holds: the text of files, and where links lead."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_files, "MOST_COPIED", 0)


@pytest.mark.usefixtures("no_copies")
def test_folders_are_new_and_files_are_links(source: Path, top: Path) -> None:
    (source / "out").mkdir()

    _, path = made(source, top)

    assert sorted(item.name for item in path.iterdir()) == ["conf", "out", "train.py"]
    assert (path / "train.py").readlink() == source / "train.py"
    assert not (path / "conf" / "base").is_symlink()
    assert (path / "conf" / "base" / "lr.yaml").read_text("utf-8") == "0.1"
    (path / "out" / "new.pt").write_text("new", encoding="utf-8")
    assert list((source / "out").iterdir()) == []


def test_paths_above_it_lead_to_what_they_lead_to_there(source: Path, top: Path) -> None:
    linked, path = made(source, top)

    for up in ("../data/images.bin", "../../shared.txt"):
        assert (path / up).samefile(source / up)
    assert [each.name for each in (path / "../../..").iterdir()] == ["home"]
    assert (path / ".." / "exp").resolve() == path.resolve()
    assert linked.unlinked is None


def test_links_stay_what_they_are_and_lead_to_the_same(source: Path, top: Path) -> None:
    (source / "conf" / "latest").symlink_to("base/lr.yaml")
    (source / "images").symlink_to("../data")
    (source / "absolute").symlink_to(source.parent / "data")
    (source / "broken").symlink_to("nowhere")

    _, path = made(source, top)

    assert (path / "conf" / "latest").readlink() == Path("base/lr.yaml")
    assert (path / "images" / "images.bin").samefile(source / "images" / "images.bin")
    assert (path / "absolute").samefile(source / "absolute")
    assert (path / "broken").readlink() == Path("nowhere")


def test_what_is_no_work_of_its_owner_is_linked_whole_or_left_out(
    source: Path, top: Path
) -> None:
    for name in (".git/HEAD", "web/node_modules/a.js", "env/pyvenv.cfg", "old/run-0/plan.json"):
        write(source / name, "")
    write(source / "old" / "run-0" / "job.json", "")
    write(source / "__pycache__" / "train.pyc", "")
    write(source / "runs" / "run-1" / "job.json", "")

    linked, path = made(source, top, left_out=[source / "runs"])

    for name in (".git", "web/node_modules", "env", "old/run-0"):
        assert (path / name).is_symlink()
    assert not (path / "web").is_symlink()
    assert not any(os.path.lexists(path / name) for name in ("__pycache__", "runs"))
    assert linked.whole == []


def test_folders_with_too_many_files_are_linked_whole_and_the_smallest_are_not(
    source: Path, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_folder, "MOST_LINKED", 20)
    many(source / "a_data", 18)
    many(source / "out" / "deep", 3)
    many(source / "z_data", 200)

    linked, path = made(source, top)

    assert sorted(linked.whole) == ["a_data", "z_data"]
    assert (path / "z_data").readlink() == source / "z_data"
    assert not (path / "out" / "deep").is_symlink()
    assert (path / "out" / "deep" / "0.txt").is_file()


def test_a_folder_of_too_many_files_is_not_made_anew(
    source: Path, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_folder, "MOST_LINKED", 20)
    many(source, 21)

    assert not LinkedFolder(source, top).make()
    assert not top.exists()


def test_no_folder_is_listed_to_its_end_once_it_holds_too_much(
    source: Path, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_folder, "MOST_LINKED", 20)
    many(source / "data", 300)
    listed = []

    class Counted:
        def __init__(self, path: str) -> None:
            self._entries = real(path)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self._entries.close()

        def __iter__(self) -> Self:
            return self

        def __next__(self) -> os.DirEntry[str]:
            listed.append(entry := next(self._entries))
            return entry

    real = os.scandir
    monkeypatch.setattr(os, "scandir", Counted)
    made(source, top)

    assert sum("/data/" in entry.path and entry.name != "images.bin" for entry in listed) <= 21


def test_a_folder_above_with_too_much_is_told(
    source: Path, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_folder, "MOST_LINKED", 20)
    many(source.parent.parent, 30)

    linked, path = made(source, top)

    assert linked.unlinked == str(source.parent.parent)
    assert (path / "../data/images.bin").is_file()
    assert [item.name for item in (path / "../..").iterdir()] == ["user"]


@pytest.mark.usefixtures("no_copies")
def test_files_that_are_written_through_links_are_named(source: Path, top: Path) -> None:
    for name in ("log.txt", "conf/seen.txt", "gone.txt", "notebook.ipynb"):
        write(source / name, "old")
    linked, path = made(source, top)
    assert linked.changed() == []

    write(path / "log.txt", "much longer")
    os.utime(path / "conf" / "seen.txt", ns=(1, 1))
    (source / "gone.txt").unlink()
    write(path / "notebook.ipynb", "saved by its owner")
    (path / "train.py").unlink()
    write(path / "train.py", "one of its own")

    assert sorted(linked.changed()) == ["conf/seen.txt", "gone.txt", "log.txt"]


def test_a_script_writes_over_copies_and_not_over_files_of_the_user(
    source: Path, top: Path
) -> None:
    write(source / "last.pt", "epoch 7")
    (source / "last.pt").chmod(0o640)
    before = all_of(source.parent.parent)
    linked, path = made(source, top)
    copied, of_user = (path / "last.pt").stat(), (source / "last.pt").stat()
    assert (copied.st_mode, copied.st_mtime_ns) == (of_user.st_mode, of_user.st_mtime_ns)

    write(path / "last.pt", "epoch 8")

    assert linked.changed() == []
    linked.remove_unchanged()
    assert all_of(top) == {f"{source.relative_to('/')}/last.pt": "epoch 8"}
    assert all_of(source.parent.parent) == before


def test_what_does_not_fit_is_linked(
    source: Path, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied_files, "MOST_COPIED_BYTES", 10)
    write(source / "last.pt", "longer than ten bytes")
    os.mkfifo(source / "queue")

    _, path = made(source, top)

    assert (path / "last.pt").readlink() == source / "last.pt"
    assert (path / "queue").is_symlink()
    assert not (path / "train.py").is_symlink()


def test_what_is_left_at_the_end_is_what_is_new(source: Path, top: Path) -> None:
    before = all_of(source.parent.parent)
    linked, path = made(source, top)
    write(path / "out" / "new.pt", "new")
    (path / "out" / "latest").symlink_to("new.pt")
    (path / "train.py").unlink()
    write(path / "train.py", "changed")

    linked.remove_unchanged()

    place = source.relative_to("/")
    assert all_of(top) == {
        f"{place}/out/new.pt": "new",
        f"{place}/out/latest": "new.pt",
        f"{place}/train.py": "changed",
    }
    assert not (path / "conf").exists()
    assert all_of(source.parent.parent) == before


def test_without_new_files_nothing_is_left(source: Path, top: Path) -> None:
    linked, _ = made(source, top)

    linked.remove_unchanged()

    assert not top.exists()


def test_no_link_is_made_or_removed_through_a_folder_that_has_become_one(
    source: Path, top: Path
) -> None:
    (source / "conf" / "latest").symlink_to("base/lr.yaml")
    (source / "conf" / "empty").mkdir()
    linked, path = made(source, top)
    shutil.rmtree(path / "conf")
    (path / "conf").symlink_to(source / "conf")
    before = all_of(source)

    again = LinkedFolder(source, top)
    assert again.make()
    again.remove_unchanged()
    linked.remove_unchanged()

    assert all_of(source) == before
    assert (source / "conf" / "empty").is_dir()
    assert (path / "conf").readlink() == source / "conf"


def test_made_again_it_keeps_what_is_new_and_its_links_can_be_removed(
    source: Path, top: Path
) -> None:
    _, path = made(source, top)
    write(path / "conf" / "new.yaml", "new")
    write(path / "conf" / "base" / "lr.yaml", "0.01")
    (path / "train.py").unlink()

    again = LinkedFolder(source, top)
    assert again.make()
    assert (path / "train.py").is_file()
    assert (path / "conf" / "new.yaml").read_text("utf-8") == "new"
    again.remove_unchanged()

    assert all_of(top) == {
        f"{source.relative_to('/')}/conf/new.yaml": "new",
        f"{source.relative_to('/')}/conf/base/lr.yaml": "0.01",
    }


def test_it_is_not_made_below_a_link_that_somebody_has_put_there(
    source: Path, top: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    top.mkdir(parents=True)
    (top / source.parts[1]).symlink_to(elsewhere)

    with pytest.raises(NotADirectoryError, match="is no folder"):
        LinkedFolder(source, top).make()

    assert list(elsewhere.iterdir()) == []
