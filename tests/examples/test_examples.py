from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from smtc_lab.errors import SpecError
from smtc_lab.examples import ENTRY_POINTS, digits, example, train_model
from smtc_lab.examples.digits_data import Digits
from smtc_lab.runtime.instance_runtime import instance_runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


needs_torchvision = pytest.mark.skipif(
    find_spec("torchvision") is None, reason="a CPU build of torch may lack torchvision"
)


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_an_example_is_a_script(name: str) -> None:
    path = Path(example(name))

    assert path.is_file()
    assert 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["digist", "digits_data", "../cli/bench", ""])
def test_an_unknown_example_is_named_with_those_that_there_are(name: str) -> None:
    with pytest.raises(SpecError, match=r"no example .*Choose among digits, plain_loop"):
        example(name)


def test_a_digit_is_a_distorted_image_with_its_label() -> None:
    dataset = Digits(work=1)
    torch.manual_seed(3)
    image, label = dataset[0]

    assert len(dataset) == 1797
    assert (image.shape, image.dtype) == ((1, 28, 28), torch.float32)
    assert (label.shape, label.dtype, int(label)) == ((), torch.int64, 0)
    assert torch.isfinite(image).all()
    images = torch.stack([dataset[index][0] for index in range(64)])
    assert abs(float(images.mean())) < 0.3
    assert 0.7 < float(images.std()) < 1.3


def test_the_same_seed_distorts_a_digit_alike_and_another_one_differently() -> None:
    dataset = Digits(work=2, image_size=20)

    def drawn(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return dataset[5][0]

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


def test_a_longer_dataset_begins_anew() -> None:
    dataset = Digits(work=0, num_samples=2000)

    assert len(dataset) == 2000
    assert dataset[1797][1] == dataset[0][1]


def test_without_scikit_learn_the_digits_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(SpecError, match=r"'scikit-learn', which is not installed. Run: pip"):
        Digits()


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Return a function that gives this process steps and hyperparameters of a job."""

    def describe(max_steps: int, **hyperparameters: object) -> None:
        monkeypatch.setenv("SMTC_MAX_STEPS", str(max_steps))
        monkeypatch.setenv("SM_HPS", json.dumps(hyperparameters))
        monkeypatch.setenv("SM_MODEL_DIR", str(tmp_path))
        instance_runtime.cache_clear()

    yield describe
    instance_runtime.cache_clear()


def test_the_digits_are_learnt(
    job: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    job(40, work=0, batch_size=32, lr=0.01)

    digits.main()

    words = capsys.readouterr().out.split()
    first, last = float(words[1]), float(words[7])
    assert last < 0.8 * first
    state = torch.load(tmp_path / "model.pt", weights_only=True)
    assert set(state) == set(digits.make_model().state_dict())


def test_a_named_model_trains_for_so_many_steps(job: Callable[..., None]) -> None:
    job(50, model="mnist_cnn", batch_size=4, steps=3)

    assert len(train_model.train()) == 3
    assert instance_runtime().timer.num_steps == 3


def test_a_caller_can_end_the_training_early(job: Callable[..., None]) -> None:
    job(50, model="mnist_cnn", batch_size=4, steps=9)
    answers = iter([True, True, False])

    assert len(train_model.train(lambda: next(answers))) == 2


@pytest.mark.parametrize(
    "model", ["cnn", pytest.param("resnet18", marks=needs_torchvision), "transformer"]
)
def test_the_plain_script_trains_each_of_its_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    path = example("train_model_plain")
    options = ["--model", model, "--steps", "2", "--batch-size", "4"]
    monkeypatch.setattr(sys, "argv", [path, *options])

    runpy.run_path(path, run_name="__main__")

    assert capsys.readouterr().out.startswith("loss: ")


@pytest.mark.skipif(find_spec("accelerate") is None, reason="the Trainer needs accelerate")
def test_the_script_of_hugging_faces_trainer_trains(tmp_path: Path) -> None:
    options = ["--steps", "2", "--layers", "1"]
    # Whether there is XLA is read once in a process, so it is one of its own.
    done = subprocess.run(
        [sys.executable, example("train_model_trainer"), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SM_OUTPUT_DATA_DIR": str(tmp_path), "USE_TORCH_XLA": "0"},
    )

    assert done.returncode == 0, done.stderr
    assert "train_loss" in done.stdout


@pytest.mark.parametrize("name", ["plain_loop", "train_model_plain", "train_model_trainer"])
def test_an_unmodified_script_does_not_import_smtc_lab(name: str) -> None:
    code = Path(example(name)).read_text(encoding="utf-8")

    assert "import smtc_lab" not in code
    assert "from smtc_lab" not in code


def test_the_plain_loop_trains(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = example("plain_loop")
    monkeypatch.setattr(sys, "argv", [path, "--epochs", "1", "--batch-size", "256"])

    runpy.run_path(path, run_name="__main__")

    assert capsys.readouterr().out.startswith("epoch 0: loss ")
