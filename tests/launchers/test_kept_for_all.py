"""What one instance has kept is there for all of them at the start of the next attempt."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.opt_ml import listing
from smtc_lab.launchers.supervision.kept_files import bring_to_all
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

HOSTS = ["algo-1", "algo-2"]
STEPS = 32
DDP_SCRIPT = """
    import os, time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    sampler = DistributedSampler(data, seed=7)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    kept = os.path.join(os.environ["SM_CHECKPOINT_DIR"], "snapshot.pt")
    first = 0
    if os.path.exists(kept):
        found = torch.load(kept)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        first = found["epoch"]
    print(f"begins with epoch {first}")
    for epoch in range(first, 4):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.05)  # steps that can be interrupted
        if dist.get_rank() == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epoch": epoch + 1}, kept + ".new")
            os.replace(kept + ".new", kept)
        dist.barrier()
        print(f"loss {loss.item():.9f}")
    dist.destroy_process_group()
"""


def losses(run: Run, host: str) -> list[str]:
    return [line for line in run.logs(host).splitlines() if line.startswith("loss ")]


@pytest.mark.timeout(240)
def test_a_script_that_saves_on_rank_0_goes_on_on_all(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    job = make_job(DDP_SCRIPT, cluster="here=local:2", distribution={"data": 2})
    unbroken = start(job).wait(90)
    run = start(job)
    snapshot = run.folder.opt_ml("algo-1") / "checkpoints" / "snapshot.pt"
    wait_until(snapshot.exists, what="the first epoch")
    run.interrupt().wait(90)

    assert len(run.state.attempts) == 2
    for rank, host in enumerate(HOSTS):
        (again,), _ = read_records(run.folder.rank_records(host, rank), AttemptRecord)
        assert again.first_step in {8, 16, 24}
        assert [one.step for one in run.records().steps[f"{host}-rank{rank}"]] == list(
            range(STEPS)
        )
        assert f"begins with epoch {again.first_step // 8}" in run.logs(host)
        assert set(losses(run, host)) == set(losses(unbroken, host))
    assert len(set(losses(unbroken, "algo-1"))) == 4


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "runs", "kept")
    for host in HOSTS:
        (made.opt_ml(host) / "checkpoints").mkdir(parents=True)
    return made


def write(folder: RunFolder, host: str, name: str, text: str, at_s: int) -> Path:
    path = folder.opt_ml(host) / "checkpoints" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at_s, at_s))
    return path


def texts(folder: RunFolder, host: str) -> dict[str, str]:
    base = folder.opt_ml(host)
    names = [name for name, _, _ in listing(base)]
    return {name.partition("/")[2]: (base / name).read_text() for name in names}


def test_the_last_writer_counts_and_what_one_deletes_is_gone(folder: RunFolder) -> None:
    write(folder, "algo-1", "last.pt", "old", 10)
    write(folder, "algo-2", "last.pt", "new", 20)
    write(folder, "algo-1", "checkpoint-5/state", "of one", 30)

    assert bring_to_all(folder, HOSTS) == ""
    everything = {"last.pt": "new", "checkpoint-5/state": "of one"}
    assert [texts(folder, host) for host in HOSTS] == [everything] * 2
    assert listing(folder.opt_ml("algo-1")) == listing(folder.opt_ml("algo-2"))

    write(folder, "algo-1", "last.pt", "newer", 40)
    write(folder, "algo-1", "checkpoint-9/state", "of one", 40)
    old = folder.opt_ml("algo-1") / "checkpoints" / "checkpoint-5" / "state"
    old.unlink()
    assert bring_to_all(folder, HOSTS) == ""

    everything = {"last.pt": "newer", "checkpoint-9/state": "of one"}
    assert [texts(folder, host) for host in HOSTS] == [everything] * 2
    assert not (folder.opt_ml("algo-2") / "checkpoints" / "checkpoint-5").exists()


def test_an_instance_that_has_lost_all_deletes_nothing(folder: RunFolder) -> None:
    write(folder, "algo-1", "last.pt", "kept", 10)
    bring_to_all(folder, HOSTS)
    (folder.opt_ml("algo-1") / "checkpoints" / "last.pt").unlink()

    assert bring_to_all(folder, HOSTS) == ""
    assert [texts(folder, host) for host in HOSTS] == [{"last.pt": "kept"}] * 2


def test_what_a_session_keeps_for_each_trainer_stays_with_it(folder: RunFolder) -> None:
    for kept in ("resume", "automatic"):
        write(folder, "algo-1", f"{kept}/rank0/step-5.pt", "of rank 0", 10)

    assert bring_to_all(folder, HOSTS) == ""
    assert texts(folder, "algo-2") == {}


def test_nothing_is_read_or_written_through_a_link(folder: RunFolder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    first, second = (folder.opt_ml(host) / "checkpoints" for host in HOSTS)
    (first / "file").symlink_to(outside / "secret")
    (first / "folder").symlink_to(outside)
    write(folder, "algo-1", "out/state", "of one", 10)
    write(folder, "algo-1", "both", "of one", 10)
    (second / "out").symlink_to(outside)
    (second / "both").mkdir()

    for _ in range(2):
        assert bring_to_all(folder, HOSTS) == ""
        assert texts(folder, "algo-2") == {}
        assert set(texts(folder, "algo-1")) == {"out/state", "both"}  # not deleted there
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]


def test_a_folder_that_leads_elsewhere_is_left_alone(folder: RunFolder, tmp_path: Path) -> None:
    write(folder, "algo-1", "last.pt", "of one", 10)
    bring_to_all(folder, HOSTS)
    outside = tmp_path / "outside"
    second = folder.opt_ml("algo-2") / "checkpoints"
    second.rename(outside)
    second.symlink_to(outside)
    (folder.opt_ml("algo-1") / "checkpoints" / "last.pt").unlink()
    write(folder, "algo-1", "next.pt", "of one", 20)

    assert bring_to_all(folder, HOSTS) == ""
    assert [path.name for path in outside.iterdir()] == ["last.pt"]


def test_what_does_not_fit_is_told(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "algo-1", "last.pt", "large", 10)
    (folder.path / "brought.json").write_text("[1")  # of a stranger
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4))

    assert "take 5 bytes, and 4 are free" in bring_to_all(folder, HOSTS)
    assert texts(folder, "algo-2") == {}
