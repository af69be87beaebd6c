"""1,797 scanned handwritten digits, and a transform for each that keeps a CPU busy.

The images are the UCI Optical Recognition of Handwritten Digits test set (E. Alpaydin, C.
Kaynak, 1998, CC BY 4.0), as they ship inside scikit-learn.
"""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torch.utils.data import Dataset

from smtc_lab.errors import SpecError

_BRIGHTEST = 16.0
_MEAN, _DEVIATION = 0.3053, 0.3761


class Digits(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Handwritten digits, each distorted anew whenever it is drawn.

    One sample: image, float32 of shape (1, image_size, image_size), about zero mean and unit
    variance; label, int64 scalar, 0 to 9. The distortion (elastic field, shift, blur) is the
    augmentation of handwriting recognisers; ``work`` repeats its blur, so that one sample
    costs as much CPU as a real pipeline's decode and augmentation.
    """

    def __init__(
        self, *, image_size: int = 28, work: int = 4, num_samples: int | None = None
    ) -> None:
        self._images, self._labels = _load()
        self._image_size = image_size
        self._work = work
        self._num_samples = len(self._labels) if num_samples is None else num_samples

    def __len__(self) -> int:
        return self._num_samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        place = index % len(self._labels)
        image = self._images[place][None, None]
        size = (self._image_size, self._image_size)
        image = functional.interpolate(image, size=size, mode="bilinear", align_corners=False)
        image = _distort(image)
        for _ in range(self._work):
            image = blur(image, sigma=float(torch.empty(()).uniform_(0.1, 0.6)))
        return ((image - _MEAN) / _DEVIATION)[0], self._labels[place]


def _distort(image: torch.Tensor) -> torch.Tensor:
    """Move every pixel a little, neighbours alike (Simard et al., 2003)."""
    size = image.shape[-1]
    field = torch.empty(1, 2, 7, 7).uniform_(-0.12, 0.12)
    field = functional.interpolate(field, size=(size, size), mode="bicubic", align_corners=True)
    shift = torch.empty(1, 2, 1, 1).uniform_(-0.08, 0.08)
    axis = torch.linspace(-1, 1, size)
    rows, columns = torch.meshgrid(axis, axis, indexing="ij")
    grid = torch.stack([columns, rows])[None] + field + shift
    return functional.grid_sample(image, grid.permute(0, 2, 3, 1), align_corners=True)


def blur(image: torch.Tensor, *, sigma: float) -> torch.Tensor:
    """Blur each channel with a Gaussian of 11 by 11 taps, borders reflected."""
    place = torch.arange(-5.0, 6.0)
    line = torch.exp(-(place**2) / (2 * sigma**2))
    line = line / line.sum()
    channels = image.shape[1]
    kernel = (line[:, None] * line[None, :]).expand(channels, 1, 11, 11)
    padded = functional.pad(image, [5] * 4, mode="reflect")
    return functional.conv2d(padded, kernel, groups=channels)


def _load() -> tuple[torch.Tensor, torch.Tensor]:
    """Return images, float32 of shape (1797, 8, 8) in 0 to 1, and labels, int64 (1797,)."""
    spec = importlib.util.find_spec("sklearn")
    if spec is None or not spec.submodule_search_locations:
        raise SpecError(
            "The digits come with the package 'scikit-learn', which is not installed. Run: "
            "pip install 'smtc-lab[vision]'."
        )
    # Reading the file alone saves every process the second that importing sklearn takes.
    file = Path(spec.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz"
    with gzip.open(file, "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    images = torch.from_numpy(table[:, :-1].reshape(-1, 8, 8) / _BRIGHTEST)
    return images, torch.from_numpy(table[:, -1].astype(np.int64))
