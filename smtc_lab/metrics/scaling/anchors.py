"""Published scaling results, to be drawn beside one's own: no others' hardware, no target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.metrics.scaling.scaling import Mode


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """One published efficiency."""

    name: str
    """Who published it, and of what."""

    mode: Mode
    fewer: int
    """Devices that it refers to."""

    more: int
    """Devices that have this efficiency."""

    efficiency: float
    """1 is ideal."""

    source: str
    """Where it was published, with its date."""


ANCHORS = (
    Anchor(
        name="torchtitan, Llama 3 8B, FSDP, H100",
        mode="weak",
        fewer=8,
        more=128,
        efficiency=5605 / 5762,
        source="github.com/pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md: "
        "5,762 and 5,605 tokens/s per GPU",
    ),
    Anchor(
        name="Goyal et al., ResNet-50, P100",
        mode="weak",
        fewer=8,
        more=256,
        efficiency=0.9,
        source="Goyal et al. 2017, arXiv:1706.02677: about 90 %",
    ),
)
"""All of them; of strong scaling none was found that says enough."""


def anchors(mode: Mode) -> tuple[Anchor, ...]:
    """Return what was published of a kind of scaling."""
    return tuple(each for each in ANCHORS if each.mode == mode)
