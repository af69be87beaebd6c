"""From a calibration and set-ups to step times with their intervals.

The stages of ``stages.py`` are combined by a p-norm (``sharpness.py``). Intervals come from
draws: of every measured number within its own interval, of how far the launch that measured it
and the one that is predicted lie from the mean of launches, of p, of CPU speeds that stand in a
table, and of what such a model misses even where all of these are known.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.planner.model.draws import NUM_DRAWS, new_draws
from smtc_lab.planner.model.inputs import inputs_of
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.model.sharpness import default_sharpness, fitted_sharpness, p_norm
from smtc_lab.planner.model.stages import Stages, stages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.calibration.parts import RunPoint
    from smtc_lab.planner.model.sharpness import Sharpness

MODEL_ERROR = 0.04
"""Standard deviation of the logarithm of what the model misses on the calibrated machine."""

EXTRAPOLATION_ERROR = 0.10
"""The same on other machines, and with batches beyond those that were measured.

Source:
    Two published runs of one baseline on the same types differ by 8 %, two of another by 21 to
    51 %. Rows of one published run are missed by 4.5 %, root mean square. How far launches lie
    apart on other machines is in it: this machine's spread is not theirs.
"""

IDENTIFIED = 1.5
"""Upper over lower end of an 80 % interval, up to which a device time counts as known."""

_FELT = 0.5  # a shorter stage adds 4 % to a step at most, at the lower end of the band of p

NEAR_TIE = 0.9
"""From this share of the longest on, the second longest is as good as the same."""


@dataclass(frozen=True, slots=True)
class Times:
    """Step times of several set-ups, shape (set-ups, draws); the first draw is predicted."""

    step_s: NDArray[np.float64]
    """Step time in seconds. NaN: the device time is unknown."""

    stages: Stages
    """What it is made of."""


class Model:
    """Predicts step times from one calibration.

    Args:
        calibration: What was measured.
        num_draws: Draws behind each interval; 0: values only.

    Raises:
        PlannerError: The calibration lacks what no prediction can do without.
    """

    def __init__(self, calibration: Calibration, num_draws: int = NUM_DRAWS) -> None:
        self.calibration = calibration
        draws = new_draws(num_draws)
        self.inputs = inputs_of(calibration, draws)
        """What the calibration tells."""
        self._trainer_z, self._data_z = draws.normal(), draws.normal()
        self._missed_z = draws.normal()
        self.sharpness = self._fitted(calibration.run_points)
        """How sharply the stages overlap."""
        uniform = draws.uniform()
        self._inverse_p, self._barrier_inverse_p = (
            np.concatenate(([known.inverse_p], known.draws(uniform)))
            for known in (self.sharpness, default_sharpness(has_barrier=True))
        )

    def times(self, setup: Setup) -> Times:
        """Return the step times of set-ups.

        Raises:
            PlannerError: Something that a set-up needs was not calibrated.
        """
        columns = self._drawn(setup.columns())
        inverse_p = self._softness(columns)
        stages = stages_of(self.inputs, columns, inverse_p)
        inverse_p = np.where(stages.overlaps, inverse_p, 1.0)
        error = EXTRAPOLATION_ERROR if self.extrapolated(setup) else MODEL_ERROR
        step_s = p_norm(self._chains(stages), inverse_p) * np.exp(error * self._missed_z)
        return Times(step_s, stages)

    def extrapolated(self, setup: Setup) -> str | None:
        """Return why set-ups are beyond what was calibrated; None: they are not."""
        if not setup.has_quotas:
            return "no step was measured on these instances"
        batch_size = setup.batch_size or self.inputs.batch_size
        if not self.inputs.is_measured_at(batch_size):
            return f"no step was measured with batches of {batch_size:,} samples"
        return None

    def device_interval_s(self, setup: Setup) -> tuple[float, float]:
        """Return the 80 % interval of the calibrated device time in seconds per step."""
        known_s = self.inputs.device_at(setup.batch_size or self.inputs.batch_size)
        low_s, high_s = np.percentile(known_s, [10, 90])
        return float(low_s), float(high_s)

    def unidentified(self, setup: Setup, times: Times) -> NDArray[np.bool_]:
        """Return for which set-ups the device time is as good as unknown, and matters.

        Theirs is the calibrated one, and could be half of their step or more.
        """
        low_s, high_s = self.device_interval_s(setup)
        longest_s = np.percentile(times.stages.device, 90, axis=1)
        matters = longest_s > _FELT * times.step_s[:, 0]
        is_given = setup.device_s is not None and ~np.isnan(setup.device_s)
        return np.asarray(matters & ~np.asarray(is_given) & (high_s > IDENTIFIED * low_s))

    def bottlenecks(self, setup: Setup) -> NDArray[np.str_]:
        """Return the stage that takes longest in each set-up.

        Raises:
            PlannerError: As for ``times``.
        """
        columns = self._drawn(setup.columns())
        return self.longest(stages_of(self.inputs, columns, self._softness(columns)))[0]

    def longest(self, stages: Stages) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
        """Return the stage that takes longest in each set-up, and whether it is near a tie.

        Where the trainer's thread waits for the device, what it does itself and the device are
        one chain: only the longest chain holds a bottleneck.
        """
        chains = self._chains(stages)[:, 0]
        cpu, network, serial, device = (
            np.nan_to_num(each[:, 0])
            for each in (stages.cpu, stages.network, stages.serial, stages.device)
        )
        is_supply = np.argmax(chains, axis=1) == 0
        supply = np.where(network > cpu, "network", "cpu")
        trainer = np.where(serial > device, "serial", "device")
        by_length = np.sort(chains, axis=1)
        is_tie = by_length[:, -2] >= NEAR_TIE * by_length[:, -1]
        return np.where(is_supply, supply, trainer), is_tie

    def _softness(self, columns: Setup) -> NDArray[np.float64]:
        """Return draws of 1 / p; several trainer processes wait for each other."""
        ranks = np.asarray(columns.trainers * columns.devices)
        return np.where(ranks > 1, self._barrier_inverse_p, self._inverse_p)

    def _drawn(self, setup: Setup) -> Setup:
        trainer = np.exp(setup.trainer_speed_error * self._trainer_z)
        data = np.exp(setup.data_speed_error * self._data_z)
        if setup.has_quotas:  # a launch on the calibrated machine
            trainer, data = (each / self.inputs.own_slowness for each in (trainer, data))
        return dataclasses.replace(
            setup,
            trainer_speed=setup.trainer_speed * trainer,
            data_speed=setup.data_speed * data,
        )

    def _chains(self, stages: Stages) -> NDArray[np.float64]:
        """Return what overlaps with each other, shape (set-ups, draws, chains)."""
        trainer = (
            [stages.serial + stages.device]
            if self.inputs.is_synchronous
            else [stages.serial, stages.device]
        )
        return np.stack([stages.supply, *trainer], axis=-1)

    def _fitted(self, points: Sequence[RunPoint]) -> Sharpness:
        usable = [point for point in points if point.num_data_workers > 0]
        if not usable:
            return default_sharpness()
        hard = np.zeros(1)  # on one machine no network overlaps with anything
        stages = [
            stages_of(self.inputs, setup_of_point(point).columns(), hard) for point in usable
        ]
        chains = np.array([self._chains(each)[0, 0] for each in stages])
        measured_s = np.array([point.step_time_s.mean for point in usable])
        return fitted_sharpness(chains, measured_s)


def setup_of_point(point: RunPoint) -> Setup:
    """Return the set-up of a run of the calibration."""
    is_fed = point.data_cores > 0
    return Setup(
        trainer_cores=point.trainer_cores,
        loader_workers=0.0 if is_fed else float(point.num_data_workers),
        data_instances=float(is_fed),
        data_cores=point.data_cores,
        data_workers=float(point.num_data_workers),
        batch_size=point.batch_size,
    )
