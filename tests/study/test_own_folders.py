"""No launch of a study finds what the one before has left, and its new files are offered."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.machine.home import WORK
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder, find_run
from smtc_lab.study.comparison.compare import compare
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.new_files import new_files_line
from smtc_lab.views.comparison.bundle import bundle_of
from smtc_lab.views.kinds import kind_at

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 12
RESUMES = f"""
    import os
    from smtc_lab.runtime.instance_runtime import instance_runtime
    os.makedirs("out", exist_ok=True)
    timer = instance_runtime().timer
    for _ in range(0 if os.path.exists("out/checkpoint") else {STEPS}):
        timer.ask()
        timer.got(8)
        timer.end()
    open("out/checkpoint", "w").close()
"""

RESUMES_AND_IS_FED = """
    import os
    import torch
    from torch.utils.data import DataLoader, Dataset
    class Numbers(Dataset):
        def __len__(self):
            return 32
        def __getitem__(self, index):
            with open("numbers.txt") as own, open("../shared/numbers.txt") as shared:
                return torch.tensor([float(own.read()) + float(shared.read()) + index])
    os.makedirs("out", exist_ok=True)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    seen = 0.0
    loader = DataLoader(Numbers(), batch_size=4)
    for batch in () if os.listdir("out") else loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        seen += float(batch.sum())
    torch.save(model.state_dict(), "out/model.pt")
    print(f"RESULT {seen:g}")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in the folder of a user."""
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def pair(here: Path, body: str, *clusters: str, **values: object) -> list[TrainingJob]:
    (here / "train.py").write_text(textwrap.dedent(body), encoding="utf-8")
    return [
        TrainingJob(entry_point="train.py", cluster=Cluster.parse(text), **values)
        for text in clusters
    ]


def test_every_launch_takes_the_same_steps_and_its_new_files_are_offered(
    here: Path, root: Path
) -> None:
    outcome = compare(pair(here, RESUMES, "a@here=local", "b@here=local"), rounds=1, root=root)

    assert [len(steps) for run in outcome.runs for steps in run.steps.values()] == [STEPS] * 2
    assert [path.name for path in here.iterdir()] == ["train.py"]
    last = find_run(str(outcome.runs[-1].job.job_name), root).path / WORK
    where = last / here.relative_to("/") / "out"
    assert outcome.new_files == (
        "New files of 2 launches are kept in their run folders, those of the last (checkpoint) "
        f"in {where}"
    )
    assert str(where) in bundle_of(outcome)["text/html"]
    (study,) = (root.parent / "comparisons").iterdir()
    assert ComparisonRun.open(str(study)).new_files == outcome.new_files
    kind = kind_at(study)
    assert outcome.new_files in kind.text(kind.see(study))


def test_a_launch_that_finds_what_another_left_is_told_as_that(here: Path, root: Path) -> None:
    jobs = pair(here, RESUMES, "a@here=local", "b@here=local", working_dir="here")

    with pytest.raises(RunFailedError, match=r"found what an earlier launch left\. .*='own'"):
        compare(jobs, rounds=1, root=root)

    assert (here / "out" / "checkpoint").is_file()


def test_data_instances_find_files_by_the_paths_that_trainers_do(
    here: Path, root: Path
) -> None:
    (here / "numbers.txt").write_text("100", encoding="utf-8")
    (here.parent / "shared").mkdir()
    (here.parent / "shared" / "numbers.txt").write_text("1000", encoding="utf-8")
    clusters = ("alone@here=local:1:train", "fed@here=local:1:train,data=local:1:data")

    jobs = pair(here, RESUMES_AND_IS_FED, *clusters, num_loader_workers=0)

    outcome = compare(jobs, rounds=2, root=root)

    names = [str(run.job.job_name) for run in outcome.runs]
    logs = [find_run(name, root).log_file("algo-1").read_text("utf-8") for name in names]
    assert ["RESULT 35696" in log for log in logs] == [True] * 4
    fed = outcome.comparison.clusters[1]
    assert fed.batches["data"] == 16
    assert not any(finding.kind == "kept_loader" for finding in outcome.comparison.findings)


@pytest.fixture
def work(root: Path) -> Path:
    folder = RunFolder(root / "run-1").path / WORK
    (folder / "home" / "exp" / "__pycache__").mkdir(parents=True)
    (folder / "home" / "exp" / "__pycache__" / "train.pyc").touch()
    return folder


def test_new_files_are_named_without_links_and_caches(work: Path, root: Path) -> None:
    (work / "home" / "exp" / "link").symlink_to(__file__)
    (work / "home" / "exp" / "folder").symlink_to(root.parent)
    assert new_files_line(root, ["run-1"]) == ""

    for name in "abcde":
        (work / "home" / "exp" / f"{name}.pt").touch()

    assert new_files_line(root, ["run-1", "gone-1"]) == (
        f"New files of a launch (a.pt, b.pt, c.pt and 2 more) are kept in {work}/home/exp"
    )


def test_a_study_from_elsewhere_makes_nobody_look_outside_its_runs(
    work: Path, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "private" / "work").mkdir(parents=True)
    (tmp_path / "private" / "work" / "key.pem").touch()
    (root / "run-2").mkdir()
    (root / "run-2" / "work").symlink_to(tmp_path / "private")

    assert work.is_dir()
    assert new_files_line(root, ["../private", "run-1", "run-2"]) == ""
