"""Everything that reads the folder of a run or of a study does so by one door."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.log_tail import LogTail
from smtc_lab.launchers.run import Run
from smtc_lab.views.kinds import kind_at
from smtc_lab.views.run_list import run_rows
from smtc_lab.views.server.list_follower import ListFollower
from tests.fuzz.folders_target import Folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGE = Path(__file__).parents[1] / "smtc_lab"
SECRET = "the-private-key-of-somebody-else"  # noqa: S105  it is looked for
ROOMS = (
    "store",
    "follow",
    "instance",
    "launchers",
    "study",
    "planner",
    "rules",
    "views",
    "cli",
)
READING = {"read_text", "read_bytes", "Connection", "fdopen"}
OTHER_FILES = {
    # what a run's own processes read of the run that they carry out
    "launchers/supervision/supervisor.py",
    "launchers/supervision/begin.py",
    "launchers/supervision/lifeline.py",
    "launchers/local/forked.py",
    "launchers/local/instances.py",
    "launchers/local/launcher.py",
    "launchers/local/own_folder.py",
    "launchers/on_ray",
    "launchers/on_sagemaker",
    "launchers/render",
    "instance/context.py",
    "instance/description.py",
    "instance/forking.py",
    "instance/prepare.py",
    "instance/resource_config.py",
    "instance/sm_environment.py",
    # what a store writes
    "store/line_sink.py",
    "store/state.py",
    "study/experiments/own_run.py",
    "store/writer.py",
    "study/tuning/ledger.py",
    # by the name that the door has checked
    "store/query.py",
    "store/parity_traces.py",
    # files that their user names, and our own
    "launchers/kept_source.py",
    "launchers/source_archive.py",
    "launchers/supervision/market.py",
    "planner/workload_hash.py",
    "rules/before_launch.py",
    "planner/calibration",
    "planner/forecast/calibrating.py",
    "views/run_table",
    "views/scripts/offered.py",
    "views/share/share.py",
    "views/widgets/base.py",
    "cli",
}


def readers() -> Iterator[str]:
    """Yield the modules that open files themselves."""
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                if _reads(node):
                    yield path.relative_to(PACKAGE).as_posix()
                    break


def _reads(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    of = getattr(getattr(call.func, "value", None), "id", "")
    if name == "load":
        return of == "np"
    if name == "open":
        words = [getattr(each, "value", None) for each in call.args]
        has_mode = any(word in {"r", "rb", "ab", "wb"} for word in words)
        is_text = any(one.arg == "encoding" for one in call.keywords)
        return has_mode or is_text or of == "os"
    return name in READING


def test_whoever_opens_a_file_is_no_reader_of_folders_that_are_handed_on() -> None:
    unknown = [
        module
        for module in readers()
        if not any(module == each or module.startswith(f"{each}/") for each in OTHER_FILES)
    ]

    assert unknown == [], "read by machine.beneath, or say here what it opens"


def link(path: Path, secret: Path) -> None:
    path.symlink_to(secret)


def link_upwards(path: Path, secret: Path) -> None:
    path.symlink_to(os.path.relpath(secret, path.parent))


def somebody_elses(path: Path, secret: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has files of others to link")
    os.link(secret, path)
    os.chown(path, 65534, 65534)


def pipe(path: Path, _secret: Path) -> None:
    os.mkfifo(path)


def folder(path: Path, _secret: Path) -> None:
    path.mkdir()


def endless(path: Path, _secret: Path) -> None:
    path.touch()
    os.truncate(path, 2**36)


def everything_told(folders: Folders, name: str = "") -> str:
    """Return all that lists, views and a file's own reader tell, also when they refuse."""
    told = [str(run_rows(folders.root, last=10)), str(ListFollower(folders.root).look())]
    tail = LogTail(folders.run.logs)
    tail.look()
    told.append(str(tail.as_dict()))

    def tell(ask: Callable[[], object]) -> None:
        try:
            told.append(str(ask()))
        except SmtcLabError as error:
            told.append(str(error))

    for path in (folders.run.path, folders.study.path):
        if name.startswith(path.relative_to(folders.root.parent).as_posix()) or not name:
            tell(lambda path=path: kind_at(path).see(path).as_dict())
    tell(lambda: Run.open(str(folders.run.path)).logs())
    tell(lambda: Run.open(str(folders.run.path)).records())
    for place, file in folders.files.items():
        if name in {place, ""}:
            tell(file.read)
    return "\n".join(told)


@pytest.mark.parametrize("attack", [link, link_upwards, somebody_elses, pipe, folder, endless])
def test_no_file_of_a_folder_leads_out_of_it_or_keeps_anybody_waiting(
    tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    folders = Folders(tmp_path)
    secret = tmp_path / "secret"

    for name, file in folders.files.items():
        # as JSON, as lines, and as whatever else is read of it
        secret.write_text(f'{{"entry_point": "{SECRET}", "reason": "{SECRET}"}}\n{SECRET}\n')
        file.path.unlink()
        attack(file.path, secret)

        told = everything_told(folders, name)

        assert SECRET not in told, name
        assert "healthy-1" in told, name
        if file.path.is_dir() and not file.path.is_symlink():
            file.path.rmdir()
        else:
            file.path.unlink()
        file.path.write_bytes(file.good)


@pytest.mark.parametrize("part", ["logs", "records", "instances"])
def test_no_folder_of_a_folder_leads_out_of_it(tmp_path: Path, part: str) -> None:
    folders = Folders(tmp_path)
    place = folders.run.path / part
    place.rename(tmp_path / "elsewhere")
    for path in (tmp_path / "elsewhere").rglob("*.log"):
        path.write_text(f"{SECRET}\n")
    before = everything_told(folders)
    place.symlink_to(tmp_path / "elsewhere")

    told = everything_told(folders)

    assert SECRET not in told
    assert "healthy-1" in told
    assert "healthy-1" in before


def test_what_lies_beside_a_record_file_is_not_followed(tmp_path: Path) -> None:
    """SQLite opens a write-ahead log for writing, and a journal names files to delete."""
    folders = Folders(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text(SECRET)
    for beside in ("-wal", "-shm", "-journal"):
        path = folders.run.rank_records("algo-1", 0)
        link(path.with_name(f"{path.name}{beside}"), victim)

        everything_told(folders)

        assert victim.read_text() == SECRET
        path.with_name(f"{path.name}{beside}").unlink()


@pytest.mark.parametrize("pid", [-1, 0, 1])
def test_a_state_names_no_group_of_processes_to_stop(
    tmp_path: Path, pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = Folders(tmp_path)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal was sent"))
    folders.run.state_file.write_text(f'{{"state": "InProgress", "supervisor_pid": {pid}}}')

    with pytest.raises(SmtcLabError, match="its supervisor_pid is no whole number"):
        Run.open(str(folders.run.path)).stop()
