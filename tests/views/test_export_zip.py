"""Runs in a zip, which open elsewhere; and zips that somebody means harm with."""

from __future__ import annotations

import json
import stat
import zipfile
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import SpecError, StoreError
from smtc_lab.launchers.kept_source import keep_source
from smtc_lab.views.export import run_zip
from smtc_lab.views.export.export import export_runs
from smtc_lab.views.export.run_zip import import_runs
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """An ended run with code, secrets, a log and a file that is linked twice."""
    records = run_records(job_name="one")
    folder = write_run_folder(tmp_path / "runs", records)
    script = tmp_path / "code" / "train.py"
    script.parent.mkdir()
    script.write_text("print('loss')\n")
    given = {"environment": {"PLAIN": "s3cr3t-1"}, "hyperparameters": {"api-key": "s3cr3t-2"}}
    job = records.job.model_copy(update={"entry_point": str(script), **given})
    folder.job_file.write_text(job.to_json())
    keep_source(folder, str(script))
    opened(folder)
    plan = json.loads(folder.plan_file.read_text())
    plan["facts"] = {"request": {"Environment": {"PLAIN": "s3cr3t-1"}}}
    folder.plan_file.write_text(json.dumps(plan))
    folder.secret_file.write_text("s3cr3t-3")
    folder.log_file("algo-1").write_text("key s3cr3t-2\nloss 0.5\n")
    made = folder.opt_ml("algo-1") / "model" / "model é.pt"
    made.parent.mkdir(parents=True)
    made.write_bytes(b"\0\1")
    made.with_name("again.pt").hardlink_to(made)
    made.with_name("out").symlink_to("/etc/passwd")
    return folder


def test_a_run_opens_elsewhere_as_it_was(tmp_path: Path, folder: RunFolder) -> None:
    export_runs(tmp_path / "one.zip", ["one"], root=folder.path.parent)

    (run,) = import_runs(tmp_path / "one.zip", name="two", root=tmp_path / "other")

    assert (run.job_name, run.job.job_name, run.status) == ("two", "two", "Completed")
    assert run.records().steps == opened(folder).records().steps
    assert (run.folder.path / "source.zip").read_bytes() == (
        folder.path / "source.zip"
    ).read_bytes()
    model = run.folder.opt_ml("algo-1") / "model"
    assert {each.name for each in model.iterdir()} == {"model é.pt", "again.pt"}
    assert all(each.read_bytes() == b"\0\1" for each in model.iterdir())
    assert stat.S_IMODE(run.folder.job_file.stat().st_mode) == 0o600


def test_no_secret_and_no_value_of_a_variable_is_in_it(
    tmp_path: Path, folder: RunFolder
) -> None:
    export_runs(tmp_path / "one.zip", ["one"], root=folder.path.parent)

    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    assert b"loss 0.5" in contents["one/logs/algo-1.log"]
    assert not [name for name, content in contents.items() if b"s3cr3t" in content]


def test_what_is_there_is_neither_replaced_nor_written_into(
    tmp_path: Path, folder: RunFolder
) -> None:
    target = tmp_path / "one.zip"
    export_runs(target, ["one"], root=folder.path.parent)

    with pytest.raises(StoreError, match="already lies"):
        import_runs(target, root=folder.path.parent)
    with pytest.raises(StoreError, match="is there already"):
        export_runs(target, ["one"], root=folder.path.parent)
    assert {each.name for each in tmp_path.iterdir()} == {"one.zip", "runs", "code"}


def test_a_run_that_goes_on_is_not_packed(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path / "runs", run_records(job_name="on", state="InProgress"))

    with pytest.raises(StoreError, match="'on' goes on"):
        export_runs(tmp_path / "on.zip", ["on"], root=folder.path.parent)
    assert not list(tmp_path.glob("*.zip*"))


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("../out/job.json", 0),
        ("/out/job.json", 0),
        ("one/../../out", 0),
        ("one/a\\..\\b", 0),
        ("one/ ", 0),
        ("one/\x1b[2J", 0),
        ("one/logs/link", stat.S_IFLNK),
        ("one/logs/pipe", stat.S_IFIFO),
        ("one/job.json", 0),
        ("lone/state.json", 0),
        (".hidden/job.json", 0),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_that_leads_out_of_its_folder_is_refused(
    tmp_path: Path, folder: RunFolder, name: str, mode: int
) -> None:
    export_runs(tmp_path / "one.zip", ["one"], root=folder.path.parent)
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    with zipfile.ZipFile(tmp_path / "one.zip", "a") as packed:
        packed.writestr(entry, "/etc/passwd")

    with pytest.raises(StoreError, match="nothing of it was taken in"):
        import_runs(tmp_path / "one.zip", root=tmp_path / "other")
    assert not list((tmp_path / "other").iterdir())


def _not_a_zip(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _damaged(content: bytes) -> bytes:
    return content.replace(b"PK\x03\x04", b"PK\x03\x05", 3)


@pytest.mark.parametrize("change", [_not_a_zip, _damaged])
def test_a_damaged_zip_leaves_nothing(
    tmp_path: Path, folder: RunFolder, change: Callable[[bytes], bytes]
) -> None:
    target = tmp_path / "one.zip"
    export_runs(target, ["one"], root=folder.path.parent)
    target.write_bytes(change(target.read_bytes()))

    with pytest.raises(StoreError, match="no zip that can be read"):
        import_runs(target, root=tmp_path / "other")
    assert not list((tmp_path / "other").iterdir())


def test_a_zip_that_grows_without_end_is_not_unpacked(
    tmp_path: Path, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_runs(tmp_path / "one.zip", ["one"], root=folder.path.parent)
    monkeypatch.setattr(run_zip, "MOST_BYTES", 1_000)

    with pytest.raises(StoreError, match="GiB are taken"):
        import_runs(tmp_path / "one.zip", root=tmp_path / "other")


def test_runs_as_a_table_in_a_file(tmp_path: Path, folder: RunFolder) -> None:
    export_runs(tmp_path / "runs.csv", root=folder.path.parent)

    assert "one" in (tmp_path / "runs.csv").read_text().splitlines()[1]


def test_runs_as_parquet_have_a_column_of_one_type_each(
    tmp_path: Path, folder: RunFolder
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    other = write_run_folder(folder.path.parent, run_records(job_name="other"))
    job = run_records().job.model_copy(update={"hyperparameters": {"api-key": 3}})
    other.job_file.write_text(job.to_json())

    export_runs(tmp_path / "runs.parquet", root=folder.path.parent)

    rows = {
        row["name"]: row for row in parquet.read_table(tmp_path / "runs.parquet").to_pylist()
    }
    assert {name: row["param.api-key"] for name, row in rows.items()} == {
        "one": "s3cr3t-2",
        "other": "3",
    }
    assert rows["one"]["steps"] == 20


def test_a_target_that_is_none_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"'runs\.xlsx'.*mlflow:URI"):
        export_runs("runs.xlsx", root=tmp_path)
