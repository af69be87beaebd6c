"""Batch searches with real processes that run out of memory, or of data."""

from __future__ import annotations

import signal
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.metrics.batch.batch_sizes import BatchSizes
from smtc_lab.store.run_folder import find_runs
from smtc_lab.store.state import RunState, current_state, write_state
from smtc_lab.study.batch.probe import why_it_failed
from smtc_lab.study.batch.size import BatchSizeRun, find_batch_size
from smtc_lab.study.folder import studies_root
from smtc_lab.views.batch.sizes import batch_sizes_text
from smtc_lab.views.kinds import kind_of
from smtc_lab.views.run_list import run_rows
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.metrics.batch.batch_sizes import BatchTrial

GREEDY = """
    import os, sys
    from smtc_lab.runtime.instance_runtime import instance_runtime

    batch_size = int(sys.argv[sys.argv.index("--batch_size") + 1])
    timer = instance_runtime().timer  # its thread gets its stack before memory is short
    held = bytearray(batch_size * 100 * 2**20)
    taken = min(batch_size, int(os.environ.get("SAMPLES", batch_size)))
    taken = int(os.environ.get("ALWAYS", taken))
    while not timer.is_done:
        timer.ask()
        timer.got(taken)
        timer.end()
"""
WITH_ROOM = GREEDY.replace("100 * 2**20", "1")
LIMIT_BYTES = 700 * 2**20

# Two samples take two thirds of a GPU's memory, so three never fit.
GREEDY_ON_GPU = """
    import sys, torch
    from torch.utils.data import DataLoader

    batch_size = int(sys.argv[sys.argv.index("--batch_size") + 1])
    sample_bytes = torch.cuda.get_device_properties(0).total_memory // 3
    weight = torch.nn.Parameter(torch.ones(1, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for batch in DataLoader(torch.ones(64, 1), batch_size=batch_size):
        activations = torch.empty(len(batch) * sample_bytes, dtype=torch.uint8, device="cuda")
        (weight * batch.cuda()).sum().backward()
        optimizer.step()
        del activations
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    def make(body: str) -> Path:
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(body), encoding="utf-8")
        return path

    return make


def test_the_largest_batch_that_fits_into_the_memory_is_found(
    script: Callable[[str], Path], root: Path
) -> None:
    seen: list[tuple[str, BatchTrial]] = []

    sizes = find_batch_size(
        script(GREEDY),
        backends=["eager"],
        start=2,
        steps=4,
        memory_limit_bytes=LIMIT_BYTES,
        root=root,
        on_trial=lambda *trial: seen.append(trial),
    )

    (eager,) = sizes.backends
    assert eager.largest is not None
    assert 4 <= eager.largest < 7
    assert eager.smallest_too_large == eager.largest + 1
    assert eager.limit == "out of memory (MemoryError)"
    assert eager.problem is None
    assert eager.fastest is not None
    assert [trial.batch_size for _, trial in seen[:3]] == [2, 4, 8]
    assert sorted(eager.trials, key=lambda trial: trial.batch_size) == list(eager.trials)
    assert BatchSizes.model_validate_json(sizes.to_json()) == sizes


@pytest.mark.gpu
def test_the_end_of_a_gpus_memory_is_found(script: Callable[[str], Path], root: Path) -> None:
    import torch

    sizes = find_batch_size(
        script(GREEDY_ON_GPU), backends=["eager"], start=2, steps=4, root=root
    )

    (eager,) = sizes.backends
    assert sizes.memory_limit_bytes is None
    assert [trial.batch_size for trial in eager.trials] == [2, 3, 4]
    assert (eager.largest, eager.smallest_too_large) == (2, 3)
    assert eager.limit in {"out of memory (OutOfMemory)", "out of memory (out of memory)"}
    assert eager.problem is None
    total_bytes = torch.cuda.get_device_properties(0).total_memory
    assert 2 / 3 * total_bytes - 2 <= eager.trials[0].peak_memory_bytes <= total_bytes


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[BatchSizes, Path]:
    """Search the largest batch of a dataset of 5 samples, and return the folder of runs."""
    folder = tmp_path_factory.mktemp("searched")
    path, root = folder / "train.py", folder / "runs"
    path.write_text(textwrap.dedent(WITH_ROOM), encoding="utf-8")
    sizes = find_batch_size(
        path, backends=["eager"], start=4, steps=4, environment={"SAMPLES": "5"}, root=root
    )
    return sizes, root


def test_a_search_is_a_study_that_is_listed_and_can_be_opened_again(
    searched: tuple[BatchSizes, Path],
) -> None:
    sizes, root = searched

    listed = run_rows(root, last=10)
    (study,) = (row for row in listed if row["kind"] == "batch-size")
    assert (study["cluster"], study["state"]) == ("batch-size of eager", "Completed")
    assert len(listed) == 1 + len(sizes.backends[0].trials)
    again = BatchSizeRun.open(study["job_name"], root=root)
    assert again.wait() == sizes
    told = [run.found or {} for run in again.state.runs[:2]]
    assert [(trial["batch_size"], trial["fits"]) for trial in told] == [
        (4, True),
        (8, False),
    ]
    seen = kind_of(again).see(again.folder.path)
    assert seen.info.is_verdict
    assert seen.info.sentence.startswith("eager: the largest batch that fits is 4, and no")
    rows = {row.label: row.cells for row in seen.info.rows}
    assert rows["batch_size 8"] == (("not full",),)
    assert rows["batch_size 4"][0][0].endswith("/s")
    assert seen.info.rounds == 0


def test_the_end_of_the_dataset_is_a_limit_too(searched: tuple[BatchSizes, Path]) -> None:
    sizes, _ = searched

    (eager,) = sizes.backends
    assert [trial.batch_size for trial in eager.trials] == [4, 8]
    assert (eager.largest, eager.limit) == (4, "the dataset has only 5 samples")
    assert "eager: the largest batch that fits is 4, and no larger one was full: the data" in (
        text := batch_sizes_text(sizes)
    )
    assert "does not fit" not in text


def test_a_batch_that_does_not_fit_is_told_and_an_interrupt_then_ends_the_search(
    script: Callable[[str], Path], root: Path
) -> None:
    seen: list[tuple[str, BatchTrial]] = []

    def interrupt(label: str, trial: BatchTrial) -> None:
        seen.append((label, trial))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_batch_size(
            script(GREEDY),
            backends=["eager"],
            start=8,
            steps=4,
            memory_limit_bytes=LIMIT_BYTES,
            root=root,
            on_trial=interrupt,
        )

    ((label, trial),) = seen
    assert (label, trial.batch_size, trial.fits) == ("eager", 8, False)
    assert trial.reason == "out of memory (MemoryError)"
    (path,) = studies_root(root).iterdir()
    assert BatchSizeRun.open(str(path)).status == "Stopped"
    assert all(current_state(folder).is_terminal for folder in find_runs(root))


def test_a_script_that_reads_another_hyperparameter_is_found_out(
    script: Callable[[str], Path], root: Path
) -> None:
    with pytest.raises(RunFailedError, match="does not read that hyperparameter"):
        find_batch_size(
            script(WITH_ROOM),
            backends=["eager"],
            start=4,
            steps=4,
            environment={"ALWAYS": "32"},
            root=root,
        )


def test_a_script_that_fails_for_another_reason_fails_the_search(
    script: Callable[[str], Path], root: Path
) -> None:
    with pytest.raises(RunFailedError, match=r"No batch could be tried.*ValueError: no data"):
        find_batch_size(script("raise ValueError('no data')"), backends=["eager"], root=root)


def test_a_search_that_makes_no_sense_is_refused(
    script: Callable[[str], Path], root: Path
) -> None:
    with pytest.raises(SpecError) as refused:
        find_batch_size(
            script(""), backends=["eager"], start=0, steps=1, memory_limit_bytes=1000, root=root
        )

    assert len(refused.value.problems) == 3
    assert not root.exists()


@pytest.mark.parametrize(
    ("code", "printed"), [(128 + signal.SIGABRT, ""), (1, "can't start new thread")]
)
def test_a_crash_is_for_want_of_memory_only_where_memory_is_limited(
    root: Path, code: int, printed: str
) -> None:
    folder = write_run_folder(root, run_records([], cluster="here=local:1", job_name="tried"))
    write_state(folder, RunState(state="Failed", exit_codes={"algo-1": code}))
    folder.log_file("algo-1").write_text(f"{printed}\n", encoding="utf-8")
    run = opened(folder)

    assert why_it_failed(run, is_limited=True)[0] is False
    assert why_it_failed(run, is_limited=False)[0] is None


def test_a_script_without_the_option_says_how_to_name_it(root: Path) -> None:
    folder = write_run_folder(root, run_records([], cluster="here=local:1", job_name="tried"))
    write_state(folder, RunState(state="Failed", exit_codes={"algo-1": 2}))
    said = "train.py: error: unrecognized arguments: --batch_size 8\n"
    folder.log_file("algo-1").write_text(said, encoding="utf-8")

    _, reason = why_it_failed(opened(folder), is_limited=False)

    assert "takes no option --batch_size" in reason
    assert "--name batch-size" in reason
