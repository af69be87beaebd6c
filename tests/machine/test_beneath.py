"""A folder that somebody handed on is read without following anything out of it."""

from __future__ import annotations

import os
import re
import socket
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import SmtcLabError, UnsafeFileError
from smtc_lab.machine.beneath import check_beneath, names_beneath, open_beneath, read_beneath

if TYPE_CHECKING:
    from pathlib import Path

SECRET = b"the secret of somebody else"
NOBODY = 65534
ANY = re.compile(".*")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run" / "logs").mkdir(parents=True)
    (tmp_path / "run" / "logs" / "a.log").write_bytes(b"ours")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.log").write_bytes(SECRET)
    return tmp_path / "run"


def test_a_plain_file_is_read_by_its_path_or_from_its_folder(folder: Path) -> None:
    assert read_beneath(folder, "logs/a.log") == b"ours"
    assert read_beneath(folder, folder / "logs" / "a.log") == b"ours"
    with open_beneath(folder, "logs/a.log") as file:
        file.seek(-2, os.SEEK_END)
        assert file.read() == b"rs"


def test_the_folder_itself_may_be_reached_by_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)

    assert read_beneath(tmp_path / "link", "logs/a.log") == b"ours"
    assert check_beneath(tmp_path / "link", "logs/a.log") == str(folder / "logs/a.log")


@pytest.mark.parametrize("target", ["../secret/a.log", "logs/a.log", "nowhere", "/dev/zero"])
def test_no_link_is_followed(folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target)

    with pytest.raises(UnsafeFileError, match=r"'link' of the folder .* is a link.*Put the"):
        read_beneath(folder, "link")


def test_no_link_on_the_way_is_followed(folder: Path) -> None:
    (folder / "other").symlink_to(folder.parent / "secret")

    with pytest.raises(UnsafeFileError, match=r"'other' of the folder .* is a link"):
        read_beneath(folder, "other/a.log")
    assert names_beneath(folder, "other", ANY) == []


@pytest.mark.parametrize("path", ["../secret/a.log", "logs/../../secret/a.log", "/etc/passwd"])
def test_no_path_leads_out(folder: Path, path: str) -> None:
    with pytest.raises(UnsafeFileError, match="is not in it"):
        read_beneath(folder, path)


def test_a_pipe_a_socket_and_a_folder_are_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket"))

    for name, what in (("pipe", "a pipe"), ("socket", "a socket"), ("logs", "a folder")):
        with pytest.raises(UnsafeFileError, match=f"is {what}"):
            read_beneath(folder, name)
    listening.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices, and files of others")
def test_a_device_and_a_hard_link_to_somebody_elses_file_are_not_opened(folder: Path) -> None:
    os.mknod(folder / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    os.link(folder.parent / "secret" / "a.log", folder / "hard")
    assert read_beneath(folder, "hard") == SECRET  # the user's own file, under another name
    os.chown(folder / "hard", NOBODY, NOBODY)

    with pytest.raises(UnsafeFileError, match="is a device"):
        read_beneath(folder, "zero")
    with pytest.raises(UnsafeFileError, match="a file of another user"):
        read_beneath(folder, "hard")


def test_a_file_that_is_too_long_is_not_read_whole(folder: Path) -> None:
    with (folder / "long").open("wb") as file:
        file.truncate(2**40)

    with pytest.raises(UnsafeFileError, match=r"'long' .* has 1,099,511,627,776 bytes.*4 of"):
        read_beneath(folder, "long", most_bytes=4)
    assert read_beneath(folder, "logs/a.log", most_bytes=4) == b"ours"


def test_what_is_refused_is_ours_and_the_systems(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_beneath(folder, "nowhere")
    assert issubclass(UnsafeFileError, SmtcLabError)
    assert issubclass(UnsafeFileError, OSError)


def test_a_pipe_that_takes_the_place_of_a_file_keeps_nobody_waiting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the opening, as fast as an attacker can be."""
    stat = os.stat

    def racing(name: str, **options: int | bool) -> os.stat_result:
        found = stat(name, **options)
        if name == "a.log":
            os.unlink(folder / "logs" / "a.log")  # noqa: PTH108
            os.mkfifo(folder / "logs" / "a.log")
        return found

    monkeypatch.setattr(os, "stat", racing)

    with pytest.raises(UnsafeFileError, match="is a pipe"):
        read_beneath(folder, "logs/a.log")


def test_names_are_those_that_fit(folder: Path) -> None:
    (folder / "logs" / "a.log.part").touch()

    assert names_beneath(folder, "logs", re.compile(r"[a-z]\.log")) == ["a.log"]
    assert names_beneath(folder, "nowhere", ANY) == []


def test_nothing_stays_open(folder: Path) -> None:
    (folder / "link").symlink_to("logs/a.log")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    for name in ("logs/a.log", "link", "nowhere", "logs", "nowhere/a", "../x"):
        try:
            read_beneath(folder, name)
        except OSError:
            continue
    names_beneath(folder, "logs", ANY)

    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
