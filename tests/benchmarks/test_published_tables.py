"""AWS's published comparisons, re-created: their transforms, and the script that trains."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
import torch

from notebooks.benchmarks.published import script
from notebooks.benchmarks.published.script import PublishedImages
from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.instance_runtime import instance_runtime

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("experiment", "shape"), [("pytorch", (1, 28, 28)), ("tensorflow", (3, 32, 32))]
)
def test_a_published_image_has_the_published_shape(
    experiment: str, shape: tuple[int, ...]
) -> None:
    dataset = PublishedImages(experiment, num_images=4, num_samples=6)
    image, label = dataset[5]

    assert len(dataset) == 6
    assert (image.shape, image.dtype) == (shape, torch.float32)
    assert 0 <= int(label) <= 9
    assert torch.isfinite(image).all()


def test_a_published_image_is_transformed_so_many_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset = PublishedImages("pytorch", work=2.5, num_images=4, num_samples=1)
    num_times = 0

    def transform(image: torch.Tensor) -> torch.Tensor:
        nonlocal num_times
        num_times += 1
        return image

    monkeypatch.setattr(dataset, "_transform", transform)
    torch.manual_seed(0)
    for _ in range(400):
        dataset[0]

    assert num_times == pytest.approx(1000, abs=40)  # 4 standard errors


@pytest.mark.parametrize("work", [0.5, math.nan, math.inf])
def test_less_than_the_published_transforms_is_refused(work: float) -> None:
    with pytest.raises(EntryPointError, match=r"Set 1 or more"):
        PublishedImages("pytorch", work=work, num_samples=1)


def test_an_unknown_experiment_is_named() -> None:
    with pytest.raises(
        EntryPointError, match=r"no published experiment 'jax'. Choose among py"
    ):
        PublishedImages("jax", num_samples=1)


@pytest.mark.parametrize("experiment", ["pytorch", "tensorflow"])
def test_a_published_experiment_trains(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, experiment: str
) -> None:
    monkeypatch.setenv("SMTC_MAX_STEPS", "2")
    monkeypatch.setenv("SM_HPS", json.dumps({"experiment": experiment, "batch_size": 4}))
    monkeypatch.setenv("SM_MODEL_DIR", str(tmp_path))
    instance_runtime.cache_clear()

    script.main()

    assert instance_runtime().timer.num_steps == 2
    instance_runtime.cache_clear()
