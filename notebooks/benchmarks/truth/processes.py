"""Step times whose true mean is known: how launches, rounds and steps come to differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.signal import lfilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

Noise = Literal["plain", "heavy", "stalls", "checkpoints"]

_SETTLED = 200
_STEP_SD = 0.05
_CHECKPOINT_EVERY = 20


@dataclass(frozen=True, kw_only=True)
class Process:
    """How the step times of two set-ups come about. Fractions are of the mean step time."""

    name: str
    """What tables call it."""

    noise: Noise = "plain"
    """``heavy``: lognormal steps. ``stalls``: one step of 50 takes ten times as long.
    ``checkpoints``: every 20th step of a launch takes six times as long."""

    rho: float = 0.0
    """Correlation of neighbouring steps, AR(1)."""

    launch_sd: tuple[float, float] = (0.0, 0.0)
    """Standard deviation of launch means, of the baseline and of the others."""

    round_sd: float = 0.0
    """Standard deviation of what all launches of a round share."""

    drift: float = 0.0
    """How much slower each round is than the one before."""

    warm_up: int = 0
    """Steps at the begin of the others' launches that take half as long: a queue that was full
    at first. The baseline has none."""


PROCESSES = (
    Process(name="independent steps"),
    Process(name="AR(1) 0.3", rho=0.3),
    Process(name="AR(1) 0.6", rho=0.6),
    Process(name="AR(1) 0.9", rho=0.9),
    Process(name="launches 2 %", launch_sd=(0.02, 0.02)),
    Process(name="launches 5 %", launch_sd=(0.05, 0.05)),
    Process(name="launches 10 %", launch_sd=(0.1, 0.1)),
    Process(name="launches 2 and 10 %", launch_sd=(0.02, 0.1)),
    Process(name="launches 10 and 2 %", launch_sd=(0.1, 0.02)),
    Process(name="rounds 5 %, launches 2 %", round_sd=0.05, launch_sd=(0.02, 0.02)),
    Process(name="rounds 10 %, launches 1 %", round_sd=0.1, launch_sd=(0.01, 0.01)),
    Process(name="drift 3 % a round", drift=0.03, launch_sd=(0.01, 0.01)),
    Process(name="heavy tails", noise="heavy", launch_sd=(0.01, 0.01)),
    Process(name="rare stalls", noise="stalls", launch_sd=(0.01, 0.01)),
    Process(name="checkpoints", noise="checkpoints", launch_sd=(0.01, 0.01)),
    Process(name="full queue, 5 steps", warm_up=5, launch_sd=(0.02, 0.02)),
    Process(name="full queue, 20 steps", warm_up=20, launch_sd=(0.02, 0.02)),
    Process(name="full queue, 40 steps", warm_up=40, launch_sd=(0.02, 0.02)),
)
"""Every way that is simulated."""


def step_times(
    process: Process,
    rng: np.random.Generator,
    *,
    set_ups: int,
    launches: int,
    steps: int,
) -> NDArray[np.float64]:
    """Return the step times of one comparison, all set-ups with the true mean 1.

    Returns:
        Shape (set_ups, launches, steps), in the order of rounds; the first is the baseline.
    """
    shape = (set_ups, launches, steps)
    times = _steps(process, rng, shape)
    rounds = 1 + process.round_sd * rng.standard_normal((1, launches, 1))
    drift = 1 + process.drift * np.arange(launches)[None, :, None]
    sds = np.array([process.launch_sd[min(place, 1)] for place in range(set_ups)])
    each = np.exp(sds[:, None, None] * rng.standard_normal((set_ups, launches, 1)))
    times = times * np.abs(rounds) * drift * each
    times[1:, :, : process.warm_up] *= 0.5
    return times


def _steps(
    process: Process, rng: np.random.Generator, shape: tuple[int, int, int]
) -> NDArray[np.float64]:
    if process.noise == "heavy":
        found: NDArray[np.float64] = 0.8 + 0.2 * np.exp(rng.standard_normal(shape) - 0.5)
        return found
    noise = rng.standard_normal((*shape[:2], shape[2] + (_SETTLED if process.rho else 0)))
    if process.rho:
        scaled = noise * (1 - process.rho**2) ** 0.5
        noise = lfilter([1.0], [1.0, -process.rho], scaled)[..., _SETTLED:]
    times = np.maximum(1 + _STEP_SD * noise, 0.1)
    if process.noise == "stalls":
        times = (times + 9.0 * (rng.random(shape) < 0.02)) / 1.18
    if process.noise == "checkpoints":
        due = np.arange(shape[2]) % _CHECKPOINT_EVERY == _CHECKPOINT_EVERY - 1
        times = (times + 5.0 * due) / 1.25
    return times
