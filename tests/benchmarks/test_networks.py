from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch
from torch.utils.data import default_collate

from notebooks.benchmarks.compiler.training import train
from notebooks.benchmarks.networks.models import MODELS, VISION_MODELS, Workload, workload
from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.instance_runtime import instance_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator


def needs_package_of(name: str) -> None:
    if name in VISION_MODELS and name != "mnist_cnn":
        pytest.importorskip("torchvision")  # which a CPU build of torch may lack


def first_batch(made: Workload) -> object:
    return default_collate([made.dataset[index] for index in range(2)])


@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_each_model_changes_all_its_weights(name: str) -> None:
    needs_package_of(name)
    torch.manual_seed(0)
    made = workload(name)
    before = {key: value.clone() for key, value in made.model.named_parameters()}

    loss = made.train_step(made.model, made.optimizer, first_batch(made))

    assert loss.shape == ()
    assert torch.isfinite(loss)
    unchanged = [
        key for key, value in made.model.named_parameters() if torch.equal(value, before[key])
    ]
    assert unchanged == []


@pytest.mark.parametrize("name", ["mnist_cnn", "vit_tiny", "distilbert", "t5"])
def test_without_dropout_a_model_is_the_same_function_each_time(name: str) -> None:
    needs_package_of(name)
    made = workload(name, dropout=0.0)
    stopped = torch.optim.SGD(made.model.parameters(), lr=0.0)
    batch = first_batch(made)

    losses = [float(made.train_step(made.model, stopped, batch)) for _ in range(2)]

    assert losses[0] == losses[1]


@pytest.mark.parametrize("name", ["mnist_cnn", "t5"])
def test_with_dropout_it_is_not(name: str) -> None:
    made = workload(name, dropout=0.2)
    stopped = torch.optim.SGD(made.model.parameters(), lr=0.0)
    batch = first_batch(made)

    losses = [float(made.train_step(made.model, stopped, batch)) for _ in range(2)]

    assert losses[0] != losses[1]


def test_the_data_are_the_same_in_every_process() -> None:
    torch.manual_seed(1)
    one = workload("gpt2").dataset[3]
    torch.manual_seed(2)
    other = workload("gpt2").dataset[3]

    assert torch.equal(one["input_ids"], other["input_ids"])
    assert torch.equal(one["labels"], one["input_ids"])


def test_masked_words_alone_are_asked_for() -> None:
    sample = workload("bert").dataset[0]
    asked = sample["labels"] != -100

    assert 0 < int(asked.sum()) < 32
    assert (sample["input_ids"][asked] == 4).all()


@pytest.mark.parametrize(("name", "size"), [("bort", "small"), ("bert", "medium")])
def test_an_unknown_model_or_size_is_named_with_those_that_there_are(
    name: str, size: str
) -> None:
    message = f"no model '{name}' of size '{size}'. Choose among mnist_cnn, resnet18"
    with pytest.raises(EntryPointError, match=message):
        workload(name, size=size)


@pytest.mark.parametrize(
    ("name", "package"), [("resnet18", "torchvision"), ("bert", "transformers")]
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setattr("notebooks.benchmarks.networks.models.find_spec", lambda _: None)

    with pytest.raises(EntryPointError, match=rf"'{package}', which is not.*lab\[models\]"):
        workload(name)


@pytest.fixture
def job_of_50_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make this process one of a job whose script draws five batches."""
    hyperparameters = {"model": "mnist_cnn", "batch_size": 4, "steps": 5}
    monkeypatch.setenv("SMTC_MAX_STEPS", "50")
    monkeypatch.setenv("SM_HPS", json.dumps(hyperparameters))
    instance_runtime.cache_clear()
    yield
    instance_runtime.cache_clear()


@pytest.mark.usefixtures("job_of_50_steps")
def test_a_named_model_trains_for_so_many_steps() -> None:
    assert len(train()) == 5
    assert instance_runtime().timer.num_steps == 5


@pytest.mark.usefixtures("job_of_50_steps")
def test_a_caller_can_end_the_training_early() -> None:
    answers = iter([True, True, False])

    assert len(train(lambda: next(answers))) == 2
