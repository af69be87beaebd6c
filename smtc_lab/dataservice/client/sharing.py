"""How many data workers of its own a trainer should have, from what was measured.

Pure: what is measured goes in, a number comes out. A trainer loses time in two ways, and this
weighs them against each other: it waits for data, or it is ready and its own data workers have
the CPU. CPU that the trainer leaves over costs nothing, so it is used before data servers are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERVAL_S = 1.0
"""Time between two decisions, in seconds, at least."""

_WAITS_FRACTION = 0.05
_HELD_UP_FRACTION = 0.03
_BUSY_FRACTION = 0.5
_CLEARLY_FRACTION = 0.03
_FIRST_PATIENCE = 4
_LONGEST_PATIENCE = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """What happened on a trainer in one interval."""

    interval_s: float
    """Length of the interval in seconds, above 0."""

    get_wait_s: float
    """Time in which the trainer was blocked on the next batch, in seconds."""

    trainer_delay_s: float | None
    """Time in which the thread that iterates was ready and did not run, in seconds: others had
    the CPU, or a quota held it. None: unknown, which counts as never."""

    cores: float
    """Cores that the trainer and its data workers may use together, above 0."""

    trainer_cores: float
    """Cores that the trainer's own process used."""

    local_cores: float
    """Cores that its data workers used."""

    local_busy_s: float
    """Time in which its data workers prepared the batches that came, in seconds, summed."""

    num_remote_workers: int
    """Data workers of data servers that are connected."""

    @property
    def wait_fraction(self) -> float:
        """Share of the interval in which the trainer waited for data."""
        return self.get_wait_s / self.interval_s

    @property
    def delay_fraction(self) -> float:
        """Share of the interval in which the trainer was ready and did not run."""
        return (self.trainer_delay_s or 0.0) / self.interval_s

    @property
    def lost_fraction(self) -> float:
        """Share of the interval that the trainer lost, by waiting or by being held up."""
        return self.wait_fraction + self.delay_fraction

    @property
    def has_cpu_left(self) -> bool:
        """Whether CPU is left for one more data worker; at most a tenth is left lying."""
        left_cores = self.cores - self.trainer_cores - self.local_cores
        return left_cores >= min(0.5, 0.1 * self.cores)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sharing:
    """How many data workers a trainer has, and what it lost with other numbers."""

    num_local_workers: int
    """Data workers of the trainer itself, at least 0."""

    lost_fractions: Mapping[int, float] = field(default_factory=dict)
    """Share of the time that the trainer lost with each number that it had lately."""

    steady_intervals: int = 0
    """Intervals since the number changed."""

    patience: int = _FIRST_PATIENCE
    """Intervals after which other numbers are forgotten, since conditions change, and may be
    tried again. Doubles each time that the trainer is held up."""


def first_sharing(*, cores: float, has_servers: bool) -> Sharing:
    """Return what to begin with: all cores but one, which is the trainer's.

    Args:
        cores: Cores that the trainer and its data workers may use together, above 0.
        has_servers: Whether data servers prepare batches too; without them there is at least
            one data worker.
    """
    return Sharing(num_local_workers=max(0 if has_servers else 1, _spare(cores)))


def next_sharing(sharing: Sharing, observation: Period) -> Sharing:
    """Return how many data workers the trainer should have in the next interval.

    - A trainer that is held up, more than it waits for data, gets fewer at once, unless it was
      seen to lose clearly more time with one fewer.
    - One that waits for data gets one more, if its data workers are busy and CPU is left.
    - One that has data servers gets back what it began with, if CPU is left: what it prepares
      itself, they need not.
    - A data worker that held the trainer up comes back after ever longer times, or when the
      trainer loses clearly more without it.

    Args:
        sharing: What it has now.
        observation: What happened since the last call.

    Returns:
        A number between 0 (1 while no data server is connected) and the cores, rounded down
        but at least 1, and what was learnt.
    """
    steady_intervals = sharing.steady_intervals + 1
    lost_fractions = {} if steady_intervals >= sharing.patience else {**sharing.lost_fractions}
    lost_fractions[sharing.num_local_workers] = observation.lost_fraction
    now = replace(sharing, lost_fractions=lost_fractions, steady_intervals=steady_intervals)
    least = 0 if observation.num_remote_workers else 1
    most = max(1, math.floor(observation.cores))
    number, patience = now.num_local_workers, now.patience
    if number > least and _wants_fewer(now, observation):
        number = _fewer(now, observation)
        patience = min(2 * patience, _LONGEST_PATIENCE)
    elif number < most and _wants_more(now, observation):
        number += 1
    number = max(least, min(number, most))
    if number == now.num_local_workers:
        return now
    return Sharing(num_local_workers=number, lost_fractions=lost_fractions, patience=patience)


def _wants_fewer(sharing: Sharing, observation: Period) -> bool:
    # While it waits for data it has time to spare, so only a delay beyond that costs a step.
    hidden = max(_HELD_UP_FRACTION, observation.wait_fraction)
    fewer = sharing.lost_fractions.get(sharing.num_local_workers - 1, 0.0)
    is_worth_it = fewer > observation.lost_fraction + _CLEARLY_FRACTION
    return observation.delay_fraction > hidden and not is_worth_it


def _fewer(sharing: Sharing, observation: Period) -> int:
    fewer = sharing.num_local_workers - 1
    if sharing.patience > _FIRST_PATIENCE:
        return fewer
    # The first number was a guess: of a trainer with one busy thread.
    wanted_cores = observation.trainer_cores * (1 + observation.delay_fraction)
    return min(fewer, math.floor(observation.cores - wanted_cores))


def _wants_more(sharing: Sharing, observation: Period) -> bool:
    if not observation.has_cpu_left:
        return False
    busy = observation.local_busy_s / observation.interval_s
    waits = (
        observation.wait_fraction > _WAITS_FRACTION
        and busy >= _BUSY_FRACTION * sharing.num_local_workers
    )
    more = sharing.lost_fractions.get(sharing.num_local_workers + 1)
    if more is not None:
        return waits and more < observation.lost_fraction - _CLEARLY_FRACTION
    is_spare = sharing.num_local_workers < _spare(observation.cores)
    return waits or (is_spare and observation.num_remote_workers > 0)


def _spare(cores: float) -> int:
    return max(0, math.floor(cores) - 1)
