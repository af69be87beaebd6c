"""What a checkpoint takes, what it refuses, how often it comes, and how many are kept."""

from __future__ import annotations

import math
import random
import resource
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.utils.data import TensorDataset

import smtc_lab
from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.records.saves import save_words
from smtc_lab.runtime.checkpoint import forget_checkpoints, load_checkpoint, save_checkpoint
from smtc_lab.runtime.instance_runtime import InstanceRuntime
from smtc_lab.runtime.plain_values import plain
from smtc_lab.runtime.resuming.interval import SaveInterval
from smtc_lab.runtime.resuming.named_state import by_name
from smtc_lab.runtime.resuming.random_numbers import random_numbers, set_random_numbers
from smtc_lab.runtime.resuming.writer import CheckpointWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


SCHEDULERS: dict[str, Callable[[torch.optim.Optimizer], Any]] = {
    "lambda": lambda one: lr_scheduler.LambdaLR(one, lambda step: 0.9**step),
    "step": lambda one: lr_scheduler.StepLR(one, 2),
    "steps": lambda one: lr_scheduler.MultiStepLR(one, [2, 2, 5]),
    "cosine": lambda one: lr_scheduler.CosineAnnealingLR(one, 10),
    "one cycle": lambda one: lr_scheduler.OneCycleLR(one, 0.5, total_steps=20),
    "cyclic": lambda one: lr_scheduler.CyclicLR(one, 0.1, 0.5),
    "chained": lambda one: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(one), lr_scheduler.ExponentialLR(one, 0.9)]
    ),
    "sequential": lambda one: lr_scheduler.SequentialLR(
        one, [lr_scheduler.LinearLR(one), lr_scheduler.ExponentialLR(one, 0.9)], [3]
    ),
    "plateau": lr_scheduler.ReduceLROnPlateau,
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_what_schedulers_of_torch_say_can_be_kept(name: str, tmp_path: Path) -> None:
    optimizer = optimizer_of(nn.Linear(2, 2))
    scheduler = SCHEDULERS[name](optimizer)
    optimizer.step()
    # a script's numpy loss makes numpy's numbers of what the scheduler remembers
    scheduler.step(np.float64(0.5)) if name == "plateau" else scheduler.step()
    said = scheduler.state_dict()

    save_checkpoint(tmp_path, {"scheduler": said}, step=1)

    found = load_checkpoint(tmp_path)
    assert found is not None
    assert found[0]["scheduler"] == said
    SCHEDULERS[name](optimizer_of(nn.Linear(2, 2))).load_state_dict(found[0]["scheduler"])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.random.RandomState(0).get_state(), r"told\[1\], which is of type numpy.ndarray"),
        ({"a": [np.zeros(3)]}, r"told\['a'\]\[0\], .*torch.from_numpy"),
        (nn.Linear(2, 2), r"told, which is of type torch.nn.*Linear.*Save its state_dict"),
        ({"one": object()}, r"told\['one'\], which is of type builtins.object"),
        ([print], r"told\[0\], which is of type builtins.builtin_function_or_method"),
    ],
)
def test_what_could_not_be_read_again_is_refused_when_it_is_saved(
    value: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(EntryPointError, match=said):
        save_checkpoint(tmp_path, {"told": value}, step=1)

    assert load_checkpoint(tmp_path) is None


def test_numbers_of_numpy_become_pythons_and_the_rest_stays() -> None:
    kept = {"a": (1, 2.5, None, True, "x", b"y"), "b": Counter({2: 3}), 7: {1, 2}}
    assert plain(kept, "") == kept
    found = plain({"a": np.float64(0.5), "b": [np.int64(3), np.bool_(True)]}, "")
    assert found == {"a": 0.5, "b": [3, True]}
    assert [type(one) for one in (found["a"], *found["b"])] == [float, int, bool]


def test_all_generators_go_on() -> None:
    np.random.standard_normal()  # leaves one drawn ahead  # noqa: NPY002
    state = plain(random_numbers(), "random")

    def draw() -> list[float]:
        drawn = [np.random.standard_normal(), np.random.rand()]  # noqa: NPY002
        return [float(torch.rand(1)), *drawn, random.random(), random.gauss(0, 1)]  # noqa: S311

    first = draw()
    set_random_numbers(state)
    assert draw() == first


def test_names_take_the_place_of_an_optimizers_numbers() -> None:
    model = nn.Linear(3, 2)
    optimizer = optimizer_of(model)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()

    found = by_name(optimizer.state_dict(), model)

    assert list(found["state"]) == found["param_groups"][0]["params"] == ["weight", "bias"]
    assert by_name(found, model) == found


def test_a_save_copies_what_changes_right_after(tmp_path: Path) -> None:
    writer = CheckpointWriter(tmp_path, keep_last=2, say=lambda *_: None)
    weight = torch.zeros(1000)
    tied = weight[:10]
    for step in range(1, 6):
        weight.fill_(step)
        writer.save({"weight": weight, "tied": tied, "step": step}, step=step)
        weight.fill_(-1)
    writer.wait()

    found = load_checkpoint(tmp_path)

    assert found is not None
    assert found[1] == 5
    assert torch.equal(found[0]["weight"], torch.full((1000,), 5.0))
    assert torch.equal(found[0]["tied"], torch.full((10,), 5.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"step-{step:012d}{end}" for step in (4, 5) for end in (".json", ".pt")
    ]


def test_a_full_disk_is_told_and_the_one_before_stays(tmp_path: Path) -> None:
    told: list[str] = []
    writer = CheckpointWriter(tmp_path, keep_last=1, say=lambda _, text: told.append(text))
    writer.save({"weight": torch.zeros(10)}, step=1)
    writer.wait()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        writer.save({"weight": torch.zeros(1_000_000)}, step=2)
        writer.wait()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert [text.partition(" (")[0].partition(";")[0] for text in told] == [
        "Step 1 is kept",
        "The checkpoint of step 2 was not written",
    ]
    found = load_checkpoint(tmp_path)
    assert found is not None
    assert found[1] == 1
    assert len(list(tmp_path.iterdir())) == 2, "nothing half is left"


def test_a_step_is_told_to_be_kept_when_its_mark_is_there(tmp_path: Path) -> None:
    happened: list[object] = []
    mark = tmp_path / "step-000000000007.json"
    writer = CheckpointWriter(
        tmp_path,
        keep_last=1,
        say=lambda kind, text: happened.append((kind, text, mark.exists())),
        flush=lambda: happened.append("outlives"),
    )
    stall_s = writer.save({"told": 1}, step=7)
    writer.wait()

    assert happened == ["outlives", ("checkpoint", save_words(7, stall_s), True), "outlives"]


def test_records_are_open_until_the_last_checkpoint_is_told() -> None:
    runtime, happened = InstanceRuntime(), []
    runtime.before_close = lambda: happened.append("records of others")
    runtime.wait_before_close(lambda: happened.append("checkpoint"))
    runtime.close()

    assert happened == ["checkpoint", "records of others"]


def test_what_interrupted_saves_leave_goes_with_the_next(tmp_path: Path) -> None:
    for name in ("step-000000000001.pt", "step-000000000002.77.draft"):
        (tmp_path / name).write_bytes(b"half")
    save_checkpoint(tmp_path, {"a": 1}, step=3)
    (tmp_path / "step-000000000004.78.draft").write_bytes(b"being written")

    forget_checkpoints(tmp_path, keep_last=1)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "step-000000000003.json",
        "step-000000000003.pt",
        "step-000000000004.78.draft",
    ]


def test_the_interval_is_youngs_where_nothing_is_said() -> None:
    how = SaveInterval(mean_time_between_s=3600)
    assert how.next_steps(step_s=None, stall_s=None, written_s=None) == 10
    young_s = math.sqrt(2 * 0.5 * 3600)
    assert how.next_steps(step_s=0.1, stall_s=0.5, written_s=1.0) == round(young_s / 0.1)
    # no more than 3.5 % of the time, and never before the last one is written
    assert how.next_steps(step_s=1.0, stall_s=20.0, written_s=1.0) == round(20 / 0.035)
    assert how.next_steps(step_s=1.0, stall_s=0.01, written_s=100.0) == 200
    assert SaveInterval(steps=7).next_steps(step_s=1.0, stall_s=9.0, written_s=9.0) == 7
    assert SaveInterval(minutes=0.5).next_steps(step_s=0.1, stall_s=1, written_s=1) == 300
    # of an emulation's steps cluster time counts; a save takes what it takes here
    slower = SaveInterval(mean_time_between_s=3600, dilation=4.0)
    assert slower.next_steps(step_s=0.4, stall_s=0.5, written_s=1.0) == round(young_s / 0.1)
    assert slower.next_steps(step_s=4.0, stall_s=0.01, written_s=400.0) == 200
    assert (
        SaveInterval(minutes=0.5, dilation=4.0).next_steps(step_s=0.4, stall_s=1, written_s=1)
        == 300
    )


def test_the_interval_knows_the_market_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def next_steps() -> int:
        interval = SaveInterval.checked(steps="auto", minutes=None, keep=1)
        return interval.next_steps(step_s=0.01, stall_s=0.001, written_s=0.1)

    assert next_steps() == round(math.sqrt(2 * 0.001 * 3600) / 0.01)
    monkeypatch.setenv("SMTC_MEAN_TIME_BETWEEN_S", "60.5")
    assert next_steps() == round(math.sqrt(2 * 0.001 * 60.5) / 0.01)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"told": {}, "every_steps": "often"}, "every_steps='often'.* of at least 1, or auto"),
        ({"told": {}, "every_steps": "auto", "every_minutes": 1.0}, "Give one of them"),
        ({}, "was given nothing to keep"),
        ({"model": object()}, r"checkpoint\(model=…\) is of type object, which has no"),
        ({"told": {}, "every_steps": 0}, "every_steps=0"),
        ({"told": {}, "every_steps": True}, "every_steps=True"),
        ({"told": {}, "keep_last": 0}, "keep_last=0"),
        ({"told": {}, "every_minutes": 0.0}, "every_minutes=0.0"),
        ({"told": {}, "every_steps": 2, "every_minutes": 1.0}, "Give one of them"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    options: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    with pytest.raises(EntryPointError, match=said):
        smtc_lab.Session().checkpoint(**options)


def trained(*, steps: int = 3, **parts: Any) -> Any:
    """Train a little in this process, as a script does; return what keeps it."""
    session = smtc_lab.Session()
    kept = session.checkpoint(every_steps=1, **parts)
    data = TensorDataset(torch.arange(8.0).view(8, 1))
    for number, _ in enumerate(session.steps(session.dataloader(data, batch_size=1))):
        parts["told"]["number"] = number
        if number == steps - 1:
            break
    kept.close()
    return kept


def test_another_model_and_a_missing_part_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    trained(model=nn.Linear(2, 2), told={})

    with pytest.raises(EntryPointError, match=r"model of the checkpoint of step 2 is another"):
        trained(model=nn.Linear(2, 3), told={})
    with pytest.raises(EntryPointError, match=r"step 2 has no other, but model, told\."):
        trained(model=nn.Linear(2, 2), other=nn.Linear(1, 1), told={})
    told: dict[str, int] = {}
    kept = trained(model=nn.Linear(2, 2), told=told, steps=1)
    assert (kept.resumed_step, told) == (2, {"number": 0})


def test_checkpoint_is_called_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    session = smtc_lab.Session()
    session.checkpoint(told={})
    with pytest.raises(EntryPointError, match="called twice"):
        session.checkpoint(told={})
