"""A session outside a job; inside one it is tried by ``test_heterogeneous.py``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import IterableDataset, TensorDataset

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.runtime.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NUMBERS = TensorDataset(torch.arange(10.0))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    instance_runtime.cache_clear()
    yield Session()
    instance_runtime.cache_clear()


@pytest.fixture
def short_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Return a session whose job takes three steps."""
    monkeypatch.setenv("SMTC_MAX_STEPS", "3")
    instance_runtime.cache_clear()
    yield Session()
    instance_runtime.cache_clear()


def numbers(batches: Any) -> list[list[float]]:
    return [batch[0].tolist() for batch in batches]


def test_outside_a_job_it_is_a_single_trainer(session: Session) -> None:
    assert (session.role, session.rank, session.world_size) == ("train", 0, 1)


def test_outside_a_job_it_is_a_plain_loop(session: Session) -> None:
    loader = session.dataloader(NUMBERS, batch_size=4)

    batches = numbers(session.steps(loader, epochs=2))

    epoch = [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0]]
    assert batches == epoch + epoch
    assert instance_runtime().timer.num_steps == 6


def test_a_loop_that_is_left_early_counts_its_whole_steps(session: Session) -> None:
    loader = session.dataloader(NUMBERS, batch_size=1)

    for number, _ in enumerate(session.steps(loader)):
        if number == 3:
            break

    assert instance_runtime().timer.num_steps == 3
    assert not instance_runtime().is_timed_by_session


def test_an_error_of_the_loop_body_is_no_step(session: Session) -> None:
    with pytest.raises(ValueError, match="the loss is NaN"):
        fail_in(session.steps(session.dataloader(NUMBERS)))
    assert instance_runtime().timer.num_steps == 0


def fail_in(batches: Any) -> None:
    for _ in batches:
        raise ValueError("the loss is NaN")


def test_max_steps_end_the_loop_and_every_later_one(short_session: Session) -> None:
    loader = short_session.dataloader(NUMBERS, batch_size=4)

    first = numbers(short_session.steps(loader, epochs=None))
    later = [numbers(short_session.steps(loader)) for _ in range(3)]

    assert len(first) == 3
    assert later == [[], [], []]


def test_a_loop_over_nothing_says_so(session: Session) -> None:
    loader = session.dataloader(NUMBERS, batch_size=11, drop_last=True)

    with pytest.raises(EntryPointError, match=r"no batch in epoch 0: .*Lower the batch size"):
        list(session.steps(loader, epochs=None))


def test_a_stream_that_ran_dry_is_no_endless_loop(session: Session) -> None:
    class Stream(IterableDataset[torch.Tensor]):
        def __init__(self) -> None:
            self.left = iter([torch.ones(1)] * 3)

        def __iter__(self) -> Any:
            return self.left

    loader = session.dataloader(Stream(), batch_size=2)

    with pytest.raises(EntryPointError, match="no batch in epoch 1"):
        list(session.steps(loader, epochs=None))
    assert instance_runtime().timer.num_steps == 2


def test_a_compiled_step_is_the_step(session: Session) -> None:
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train_step(model: Any, optimizer: Any, batch: Any) -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(batch).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = session.compile(train_step, model, optimizer)
    before = model.weight.item()
    loss = step(torch.ones(1, 1))

    assert step.backend == "eager"
    assert not loss.requires_grad
    assert model.weight.item() == pytest.approx(before - 0.1, abs=1e-6)  # it may be near 0


@pytest.fixture
def hyperparameters(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "epochs": 3,
        "lr": 1,
        "momentum": 0.5,
        "name": "x",
        "nesterov": True,
        "sizes": [1, 2],
        "none": None,
    }
    monkeypatch.setenv("SM_HPS", json.dumps(values))


@pytest.mark.usefixtures("hyperparameters")
@pytest.mark.parametrize(
    ("name", "default", "value"),
    [
        ("epochs", 1, 3),
        ("lr", 0.1, 1.0),
        ("momentum", 0.9, 0.5),
        ("name", "y", "x"),
        ("nesterov", False, True),
        ("sizes", [], [1, 2]),
        ("momentum", None, 0.5),
        ("absent", 7, 7),
        ("absent", None, None),
    ],
)
def test_a_hyperparameter_has_the_type_of_its_default(
    session: Session, name: str, default: object, value: object
) -> None:
    found = session.hyperparameter(name, default)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.usefixtures("hyperparameters")
@pytest.mark.parametrize(
    ("name", "default", "words"),
    [
        ("epochs", "one", r"epochs=3 is of type int, but the script needs str"),
        ("name", 1, r"name='x' is of type str, but the script needs int"),
        ("momentum", 1, r"momentum=0.5 is of type float, but the script needs int"),
        ("nesterov", 1, r"nesterov=True is of type bool, but the script needs int"),
        ("nesterov", 1.0, r"nesterov=True is of type bool, but the script needs float"),
        ("epochs", False, r"epochs=3 is of type int, but the script needs bool"),
        ("none", 1, r"none=None is of type NoneType, but the script needs int"),
    ],
)
def test_a_hyperparameter_of_another_type_is_refused(
    session: Session, name: str, default: object, words: str
) -> None:
    with pytest.raises(EntryPointError, match=rf"{words}. Correct the job's hyperparameters"):
        session.hyperparameter(name, default)


def test_a_channel_is_the_folder_of_its_variable(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SM_CHANNEL_TRAINING", str(tmp_path))

    assert session.channel("training") == tmp_path
    with pytest.raises(EntryPointError, match=r"no channel 'validation' on this instance"):
        session.channel("validation")


def test_a_checkpoint_goes_through_the_session(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path / "ml"))
    assert session.load_checkpoint() is None

    session.save_checkpoint(step=4, model={"weight": torch.ones(1)})

    loaded = session.load_checkpoint()
    assert loaded is not None
    assert loaded[1] == 4
    assert list((tmp_path / "ml").iterdir()) == [tmp_path / "ml" / "checkpoints"]


def test_the_model_goes_where_sagemaker_wants_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert str(session.model_dir) == "."
    monkeypatch.setenv("SM_MODEL_DIR", str(tmp_path))
    assert session.model_dir == tmp_path
