"""What instances have left in S3: the records that their log does not hold, and reports."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.launchers.on_sagemaker.leftovers import fetch_leftovers
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path


BELOW = "lab/train-1/checkpoints/smtc_lab/train-1"
RECORDS = f"{BELOW}/algo-1/records/algo-7-rank0.17.lines"
OTHERS = f"{BELOW}/algo-2/records/algo-8-data0.17.lines"
REPORT = f"{BELOW}/algo-1/compiler/report-rank0.json"
STRANGE = [
    f"{BELOW}/algo-1/records/../../x.lines",
    f"{BELOW}/algo-1/compiler/report-rank0.json.exe",
    f"{BELOW}/notes.txt",
    f"{BELOW}/",
]


class S3:
    """A bucket, in which every object holds its own key."""

    def __init__(self, keys: list[str]) -> None:
        self.keys = keys
        self.read: list[str] = []
        self.buckets: set[str] = set()

    def get_paginator(self, _: str) -> S3:
        return self

    def paginate(self, **given: Any) -> list[dict[str, Any]]:
        self.buckets.add(given["Bucket"])
        found = [key for key in self.keys if key.startswith(given["Prefix"])]
        return [{"Contents": [{"Key": key}]} for key in found] or [{}]

    def get_object(self, **given: Any) -> dict[str, Any]:
        self.read.append(given["Key"])
        self.buckets.add(given["Bucket"])
        return {"Body": io.BytesIO(given["Key"].encode())}


class JobMirror:
    """A mirror to which one instance's log has told everything."""

    def __init__(self, complete: str) -> None:
        self.complete = complete
        self.taken: list[tuple[str, str, bytes]] = []

    def is_missing_rows(self, host: str) -> bool:
        return host != self.complete

    def take_file(self, host: str, name: str, data: bytes) -> None:
        self.taken.append((host, name, data))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, "train-1")


def fetch(
    folder: RunFolder, s3: S3, *, complete: str, uri: str = "s3://b/lab/train-1/checkpoints"
) -> JobMirror:
    mirror: Any = JobMirror(complete)
    fetch_leftovers(folder, mirror, uri, s3)
    return mirror


def test_only_records_that_the_log_lacks_are_fetched(folder: RunFolder) -> None:
    s3 = S3([RECORDS, OTHERS, *STRANGE])

    mirror = fetch(folder, s3, complete="algo-2")

    assert mirror.taken == [("algo-1", "algo-7-rank0.17.lines", RECORDS.encode())]
    assert s3.read == [RECORDS]


def test_reports_are_put_where_a_local_run_has_them(folder: RunFolder) -> None:
    fetch(folder, S3([REPORT]), complete="algo-1")

    report = folder.opt_ml("algo-1") / "output" / "data" / "compiler" / "report-rank0.json"
    assert report.read_text(encoding="utf-8") == REPORT


@pytest.mark.parametrize("uri", ["s3://kept", "s3://kept/", "s3://kept/a/b", "s3://kept/a/b/"])
def test_what_a_job_keeps_elsewhere_is_fetched_from_there(folder: RunFolder, uri: str) -> None:
    below = uri.removeprefix("s3://kept").strip("/")
    own = f"{below}/smtc_lab/train-1/algo-1/records/algo-7-rank0.17.lines".lstrip("/")
    s3 = S3([own, RECORDS])

    assert [key for _, _, key in fetch(folder, s3, complete="", uri=uri).taken] == [
        own.encode()
    ]
    assert s3.buckets == {"kept"}


def test_a_job_that_left_nothing_is_no_error(folder: RunFolder) -> None:
    assert fetch(folder, S3([]), complete="").taken == []
