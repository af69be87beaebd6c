"""The two published heterogeneous-cluster experiments, for re-creation as scale models.

The transforms are those of the published samples, sample by sample, on images of the same
size. They cost less here than a sample cost there, so ``work`` repeats them. The accelerator
is emulated, so the network is a stand-in of the same input and output.

Source: aws/amazon-sagemaker-examples, training/heterogeneous-clusters (2022), read July 2023.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

import smtc_lab as lab
from smtc_lab.errors import EntryPointError
from smtc_lab.examples.digits import train_step
from smtc_lab.examples.digits_data import blur

_CHANNELS = {"pytorch": 1, "tensorflow": 3}
_SIZE = {"pytorch": 28, "tensorflow": 32}


class PublishedImages(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Fixed random uint8 images, transformed as the published sample does.

    ``pytorch``: scale to 0-1, normalize, 11 x 11 Gaussian blur with sigma drawn from 0.1 to 2.
    ``tensorflow``: 3 x 3 dilation, 11 x 11 Gaussian blur with sigma 0.8, scale to 0-1, random
    flip, rotation and zoom by up to 0.1.
    Each is done ``work`` times, on average where that is not whole; the last one counts.

    One sample: image, float32 of shape (channels, size, size); label, int64 scalar, 0 to 9.

    Raises:
        EntryPointError: There is no such experiment.
    """

    def __init__(
        self, experiment: str, *, work: float = 1.0, num_images: int = 1024, num_samples: int
    ) -> None:
        if experiment not in _CHANNELS:
            raise EntryPointError(
                f"There is no published experiment {experiment[:80]!r}. Choose among "
                f"{', '.join(_CHANNELS)}."
            )
        if not 1 <= work < math.inf:
            raise EntryPointError(
                f"work={work} is less than once each transform, or no number. Set 1 or more."
            )
        generator = torch.Generator().manual_seed(0)
        shape = (num_images, _CHANNELS[experiment], _SIZE[experiment], _SIZE[experiment])
        self._images = torch.randint(0, 256, shape, generator=generator, dtype=torch.uint8)
        self._labels = torch.randint(0, 10, (num_images,), generator=generator)
        self._transform = (
            _pytorch_transform if experiment == "pytorch" else _tensorflow_transform
        )
        self._work = work
        self._num_samples = num_samples

    def __len__(self) -> int:
        return self._num_samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        place = index % len(self._labels)
        for _ in range(int(self._work + torch.rand(()).item())):
            image = self._transform(self._images[place][None].float())[0]
        return image, self._labels[place]


def _pytorch_transform(image: torch.Tensor) -> torch.Tensor:
    image = (image / 255 - 0.1307) / 0.3081
    return blur(image, sigma=float(torch.empty(()).uniform_(0.1, 2.0)))


def _tensorflow_transform(image: torch.Tensor) -> torch.Tensor:
    image = functional.max_pool2d(image, 3, stride=1, padding=1)
    image = blur(image, sigma=0.8) / 255
    if torch.rand(()) < 0.5:
        image = image.flip(-1)
    angle = float(torch.empty(()).uniform_(-0.1, 0.1)) * 2 * math.pi
    zoom = 1 + float(torch.empty(()).uniform_(-0.1, 0.1))
    rows = [
        [zoom * math.cos(angle), -zoom * math.sin(angle), 0.0],
        [zoom * math.sin(angle), zoom * math.cos(angle), 0.0],
    ]
    grid = functional.affine_grid(torch.tensor([rows]), list(image.shape), align_corners=False)
    return functional.grid_sample(image, grid, padding_mode="reflection", align_corners=False)


def main() -> None:
    """Train until the job's last step."""
    session = lab.Session()
    experiment = session.hyperparameter("experiment", "pytorch")
    batch_size = session.hyperparameter("batch_size", 128)
    work = session.hyperparameter("work", 1.0)
    dataset = PublishedImages(experiment, work=work, num_samples=batch_size * 10_000)
    loader = session.dataloader(dataset, batch_size=batch_size)
    model = nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), nn.LazyLinear(10))
    model(torch.zeros(1, _CHANNELS[experiment], _SIZE[experiment], _SIZE[experiment]))
    step = session.compile(train_step, model, torch.optim.Adadelta(model.parameters()))
    for batch in session.steps(loader):
        step(batch)


if __name__ == "__main__":
    main()
