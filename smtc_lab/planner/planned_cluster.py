"""One cluster of a plan: why it is so fast, what to try next, and the job that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.display import PlanDisplayed
from smtc_lab.launchers.run import launch
from smtc_lab.planner.advice import advice_of, start_of
from smtc_lab.planner.explanation import explanation_of, steps_of
from smtc_lab.planner.forecast.divided_batch import divided_values
from smtc_lab.planner.interruptions import simulate_interruptions
from smtc_lab.planner.planned_candidate import PlannedCandidate
from smtc_lab.planner.run_prediction import predict_run
from smtc_lab.planner.words.told_advice import seconds
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.launchers.run import Run
    from smtc_lab.planner.words.told_advice import Advice


@dataclass(frozen=True, repr=False)
class PlannedCluster(PlanDisplayed, PlannedCandidate):
    """A candidate that can be explained and launched."""

    def __repr__(self) -> str:
        said = self.prediction
        return (
            f"<{type(self).__name__} {self.candidate.cluster}: {seconds(said.step_time_s)} a "
            f"step, {said.evidence}; .explain() tells why>"
        )

    def advice(self) -> tuple[Advice, ...]:
        """Return what to try, in the order an engineer would try it.

        It begins with the training instances alone, as they are: more data workers, a larger
        size, a data group (this cluster's own, if it has one), a faster path.
        """
        return advice_of(self)

    def explain(self) -> str:
        """Return in sentences what bounds a step, and what this cluster does about it."""
        return explanation_of(self, start_of(self), self.advice())

    def step_draws_s(self) -> NDArray[np.float64]:
        """Return draws of the step time in seconds, the mean first, shape (D,).

        What is not known of the calibration is drawn alike for all clusters of a plan, so the
        ratio of two of them is known better than either.
        """
        rows = self.outlook.clusters_of(self.candidate.cluster)
        times = self.outlook.model.times(self.outlook.setup(rows))
        found: NDArray[np.float64] = times.step_s[0]
        return found

    def job(self, **fields: Any) -> TrainingJob:  # noqa: ANN401  TrainingJob checks them
        """Return the job that runs the calibrated script on this cluster.

        A calibration with an emulated device makes a job that emulates it too.

        Args:
            **fields: Fields of ``TrainingJob``, such as ``job_name`` and ``channels``, that win
                over those of the calibration and the plan.

        Raises:
            SpecError: A field is illegal, or the batch that devices are to share is not in the
                hyperparameters as ``batch_size``.
        """
        calibration = self.outlook.calibration
        declared_s = self._declared_s()
        emulation = None
        if declared_s is not None:
            emulation = Emulation(
                device_step_time_s=declared_s,
                link=self.outlook.settings.link,
                relative_cpu_speed=dict(self.outlook.settings.relative_cpu_speed),
            )
        settings = self.outlook.settings
        spread = self.candidate.distribution
        is_strong = settings.mode == "strong" and spread is not None
        values = dict(calibration.hyperparameters)
        if is_strong and spread is not None and "hyperparameters" not in fields:
            values = divided_values(values, spread.data or 1)
        own: dict[str, Any] = {
            "entry_point": calibration.entry_point,
            "cluster": self.candidate.cluster,
            "hyperparameters": values,
            "arguments": calibration.arguments,
            "environment": dict(calibration.environment),
            "emulation": emulation,
            "max_steps": steps_of(self),
            "distribution": spread if settings.num_devices is None or is_strong else None,
            "num_loader_workers": self.num_loader_workers,
        }
        return TrainingJob(**(own | fields))

    def _declared_s(self) -> float | None:
        """Return the time of a step on its accelerator; None: no device was emulated."""
        outlook, declared_s = self.outlook, self.outlook.calibration.emulated_device_s
        if declared_s is None:
            return None
        rows = outlook.clusters_of(self.candidate.cluster)
        return float(outlook.offers.told_device_s(rows.trainer, declared_s)[0])

    def launch(self, **fields: Any) -> Run:  # noqa: ANN401  TrainingJob checks them
        """Start this cluster's job on this machine, with its prediction drawn behind it.

        Args:
            **fields: As for ``job``.

        Raises:
            SpecError: The job cannot run here.
            PlannerError: The script has changed since it was calibrated; the run goes on.
        """
        run = launch(self.job(**fields))
        predict_run(self.outlook.calibration, run.folder)
        return run

    def simulate_job_s(self, *, seed: int = 0) -> float | None:
        """Return how long the whole job takes with interruptions at random, in seconds.

        None: the plan has no steps, or start-up was not measured.

        Args:
            seed: Seed of the interruptions.

        Raises:
            ValueError: It would be interrupted before each checkpoint and never end.
        """
        calibration, settings = self.outlook.calibration, self.outlook.settings
        steps = steps_of(self)
        if steps is None or calibration.startup_s is None:
            return None
        steps_s = steps * self.prediction.step_time_s.mean
        if settings.interruptions is not None:
            steps_s = simulate_interruptions(
                settings.interruptions, useful_s=steps_s, seed=seed
            )
        return calibration.once_s + steps_s
