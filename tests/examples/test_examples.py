from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from smtc_lab.errors import SpecError
from smtc_lab.examples import ENTRY_POINTS, digits, example
from smtc_lab.examples.digits_data import Digits
from smtc_lab.runtime.instance_runtime import instance_runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


def test_the_plain_loop_does_not_import_smtc_lab() -> None:
    code = Path(example("plain_loop")).read_text(encoding="utf-8")

    assert "import smtc_lab" not in code
    assert "from smtc_lab" not in code


def test_the_plain_loop_trains(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = example("plain_loop")
    monkeypatch.setattr(sys, "argv", [path, "--epochs", "1", "--batch-size", "256"])

    runpy.run_path(path, run_name="__main__")

    assert capsys.readouterr().out.startswith("epoch 0: loss ")
