"""What is made to be measured: many ended runs, some with many points, a folder of code."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import STARTED_S, run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = ("loss", "accuracy", "grad_norm", "eval/loss")
_PARAMETERS = {"batch_size": 32, "optimizer": "adamw", "width": 256, "dropout": 0.1}


def make_run(root: Path, name: str, *, points: int) -> RunFolder:
    """Write an ended run that logged so many points under four names, from 1 down to 0."""
    folder = write_run_folder(root, run_records(job_name=name))
    with RecordWriter(folder.rank_records("algo-1", 0)) as writer:
        for number in range(points):
            step, place = divmod(number, len(_NAMES))
            row = (step, STARTED_S + step, _NAMES[place], 1 - number / points, "")
            writer.append_values(MetricRecord, row)
            if number % 50_000 == 0:
                writer.flush()  # else all of them wait in memory
    return folder


def make_ended_runs(root: Path, count: int) -> None:
    """Write so many ended runs; ``lr`` goes from 0 to 1 over them, each loss ends below 0.3.

    They have no ballast, which nobody reads: that of 10,000 would be 2.6 GB.
    """
    first = make_run(root, "ended-0", points=80)
    first.ballast.unlink()
    for number in range(count):
        _as_another(first, RunFolder(root / f"ended-{number}"), lr=number / count)


def make_compared_runs(root: Path, count: int, *, points_each: int) -> None:
    """Write so many ended runs, each with its own ``lr`` and ten noisy metrics."""
    names = [f"metric-{number}" for number in range(10)]
    first = write_run_folder(root, run_records(job_name="compared-0"))
    first.ballast.unlink()
    noise = random.Random(0)  # noqa: S311  no secret
    with RecordWriter(first.rank_records("algo-1", 0)) as writer:
        for step in range(points_each):
            for name in names:
                row = (step, STARTED_S + step, name, noise.random() + 1 / (1 + step), "")
                writer.append_values(MetricRecord, row)
            if step % 5_000 == 0:
                writer.flush()  # else all of them wait in memory
    for number in range(count):
        _as_another(first, RunFolder(root / f"compared-{number}"), lr=number / count)


def make_code(folder: Path, *, files: int) -> Path:
    """Write so many Python files of 4 kB each into a git repository; return one of them."""
    folder.mkdir(parents=True)
    for number in range(files):
        content = "".join(f"weight_{n} = {hash((number, n))}\n" for n in range(150))
        (folder / f"part{number}.py").write_text(content[:4_000], encoding="utf-8")
    person = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*person, "commit", "-qm", "Code")):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)  # noqa: S603, S607  our own arguments
    return folder / "part0.py"


def _as_another(run: RunFolder, folder: RunFolder, *, lr: float) -> None:
    """Write a run as it is under another name, with an ``lr`` of its own."""
    if folder != run:
        shutil.copytree(run.path, folder.path)
    job = run_records([], job_name=folder.job_name).job
    job = job.model_copy(update={"hyperparameters": {**_PARAMETERS, "lr": lr}})
    folder.job_file.write_text(job.to_json(), encoding="utf-8")
