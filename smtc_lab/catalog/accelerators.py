"""How fast accelerators compute at most, and what of that training reaches.

Source:
    Peaks: dense, of one device, from the files that each row of ``accelerators.csv`` names.
    PCI Express: its standard's rate of 16 lanes in one direction. NVLink: half of the published
    sum of both directions; of NVLink 2 no sum was read.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping

Precision = Literal["fp32", "tf32", "fp16", "bf16"]
"""In what matrices are multiplied."""

PRECISIONS: tuple[Precision, ...] = get_args(Precision)

Workload = Literal["convolutions", "products"]
"""What most operations of a model are: of convolutions, or of matrix products."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceleratorSpeed:
    """What one device reaches at most; None: no source, or sources that disagree."""

    name: str
    """As the instance catalog has it."""

    fp32_tflops: float | None
    """Dense peak in TFLOP/s; so the next three."""

    tf32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None

    link_gb_per_s: float | None
    """To the other devices of its instance, in GB/s and one direction."""

    link: str
    """What that is."""

    source: str
    """Where the peaks were read."""

    def peak_flops_per_s(self, precision: Precision) -> float | None:
        """Return the dense peak in FLOP/s; None: unknown."""
        tflops: float | None = getattr(self, f"{precision}_tflops")
        return None if tflops is None else 1e12 * tflops


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedUtilization:
    """What published trainings reached of a device's peak, as fractions."""

    low: float
    """What 2.5 % of them were below."""

    median: float

    high: float
    """What 2.5 % of them were above."""

    figures: int
    """Published figures that these are of."""

    models: int
    """Models that these figures are of."""


_HALF: Mapping[Workload, PublishedUtilization] = MappingProxyType(
    {
        "products": PublishedUtilization(
            low=0.21, median=0.46, high=0.61, figures=112, models=13
        ),
        "convolutions": PublishedUtilization(
            low=0.02, median=0.25, high=0.65, figures=110, models=80
        ),
    }
)
_FP32 = PublishedUtilization(low=0.05, median=0.39, high=0.82, figures=28, models=11)
_TF32 = PublishedUtilization(low=0.01, median=0.13, high=0.30, figures=20, models=11)


def published_utilization(precision: Precision, workload: Workload) -> PublishedUtilization:
    """Return what trainings that were published reached of the peak of NVIDIA's devices.

    In single precision all figures are of image models.

    Source:
        815 published throughputs over the peaks of this catalog: bfloat16 with the FLOPs that
        the publisher states (llm-foundry, torchtitan, NeMo); automatic mixed precision, TF32
        and FP32 with 6 FLOPs for each multiply-add of the forward pass (timm). Rows that break
        a physical limit are left out.
    """
    if precision == "fp32":
        return _FP32
    return _TF32 if precision == "tf32" else _HALF[workload]


@cache
def accelerator_speeds() -> Mapping[str, AcceleratorSpeed]:
    """Return what is known of each accelerator, by its name. Read once in a process."""
    source = resources.files("smtc_lab.catalog").joinpath("accelerators.csv")
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    found = TypeAdapter(tuple[AcceleratorSpeed, ...]).validate_python(
        [{name: text or None for name, text in row.items()} for row in rows]
    )
    return MappingProxyType({one.name: one for one in found})
