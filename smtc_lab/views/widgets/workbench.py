"""The workbench: set-ups side by side, a Run button, and the live comparison below."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, SmtcLabError, SpecError
from smtc_lab.views.code.set_ups import checked_set_ups, first_jobs
from smtc_lab.views.kinds import kind_of
from smtc_lab.views.widgets.base import built_front_end
from smtc_lab.views.widgets.traits.catalog import catalog_trait
from smtc_lab.views.widgets.traits.environments import EnvironmentsView
from smtc_lab.views.widgets.traits.forecast import ForecastView
from smtc_lab.views.widgets.traits.ladder import LadderView
from smtc_lab.views.widgets.traits.scripts import ScriptsView
from smtc_lab.views.widgets.traits.spot import SpotView
from smtc_lab.views.widgets.watching import WatchingView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.tuning.question import TuningQuestion
    from smtc_lab.study.comparison.comparison_run import ComparisonRun
    from smtc_lab.study.scaling.scale import ScalingRun
    from smtc_lab.study.tuning.tuning_run import TuningRun
    from smtc_lab.views.live.watch import Watch


class Workbench(
    ForecastView, LadderView, SpotView, EnvironmentsView, ScriptsView, WatchingView
):
    """Two or more set-ups side by side, run and compared live.

    It begins with the pair of the demo: the same training script on one accelerator instance,
    and on one that a CPU instance prepares data for.

    ::

        workbench = lab.Workbench()
        workbench            # choose, and press Run
        workbench.outcome()  # what came out

    Args:
        jobs: The set-ups at first, the baseline first; None: the pair of the demo.
        rounds: Launches of each set-up.
        catalog: Types and prices; None: the catalog that comes with the package.
    """

    view: ClassVar[str] = "workbench"
    watched = "comparison"

    value = traitlets.List(traitlets.Dict()).tag(sync=True)
    """The set-ups, each a ``TrainingJob`` as JSON, as they are typed: while ``problems`` has
    some, they are not legal. To change them, assign another list, or ``jobs``."""

    rounds = traitlets.Int(3, min=1, max=100).tag(sync=True)
    """Launches of each set-up; the order turns round from one round to the next."""

    catalog = catalog_trait()
    """Types to choose from, and their prices."""

    problems = traitlets.List(traitlets.List(traitlets.Unicode()), read_only=True).tag(
        sync=True
    )
    """For each set-up, what is wrong with it, one sentence for each problem."""

    cautions = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    """What a user should know before Run, one text for each matter, how long it takes here
    among it; empty: nothing."""

    code = traitlets.Unicode(read_only=True).tag(sync=True)
    """The lines of Python that do what the Run button does; empty while there are problems."""

    start_problem = traitlets.Unicode(read_only=True).tag(sync=True)
    """Why nothing was started; empty: it was, or nobody asked."""

    running = traitlets.Unicode(read_only=True).tag(sync=True)
    """Name of the comparison that is shown below; empty: nothing was started yet."""

    result = traitlets.Unicode(read_only=True).tag(sync=True)
    """As in ``ComparisonMonitor``."""

    def __init__(
        self,
        jobs: Sequence[TrainingJob] | None = None,
        *,
        rounds: int = 3,
        catalog: Catalog | None = None,
    ) -> None:
        self.comparison: ComparisonRun | ScalingRun | TuningRun | None = None
        """The study that was started last; None: none yet."""
        self._jobs: list[TrainingJob] = []
        self._watch: Watch | None = None
        self._starting = threading.Lock()
        first = first_jobs() if jobs is None else list(jobs)
        super().__init__(
            catalog=catalog or Catalog.load(),
            rounds=rounds,
            value=[job.model_dump(mode="json") for job in first],
        )
        self.on_msg(self._on_message)

    @property
    def jobs(self) -> list[TrainingJob]:
        """The last legal set-ups, ready to launch."""
        return list(self._jobs)

    @jobs.setter
    def jobs(self, jobs: Sequence[TrainingJob]) -> None:
        self.value = [job.model_dump(mode="json") for job in jobs]

    def run(self) -> ComparisonRun:
        """Start what the form says, and return at once.

        Raises:
            SpecError: A set-up is not legal, or they cannot be compared; nothing was started.
            LauncherError: It could not be started, or the last one still runs.
        """
        # numpy and what runs and compares: half of what the first look would wait for
        from smtc_lab.study.comparison.comparison_run import launch_comparison  # noqa: PLC0415
        from smtc_lab.views.forecast.forecasting import keep_forecast  # noqa: PLC0415

        with self._starting:
            self._refuse_start()
            started = launch_comparison(self.jobs, rounds=self.rounds)
            keep_forecast(started.folder, self.value, catalog=self.catalog)
            self._show(started)
        return started

    def scale(self, devices: Sequence[int]) -> ScalingRun:
        """Start each set-up on several numbers of devices, and return at once.

        Raises:
            SpecError: A set-up is not legal, or cannot be scaled so; nothing was started.
            LauncherError: It could not be started, or the last one still runs.
        """
        from smtc_lab.study.scaling.scale import launch_scaling  # noqa: PLC0415  as above

        with self._starting:
            self._refuse_start()
            started = launch_scaling(self.jobs, devices=devices, rounds=self.rounds)
            self._show(started)
        return started

    def tune(self, question: TuningQuestion) -> TuningRun:
        """Search the hyperparameters of the first set-up, and return at once.

        Args:
            question: What is searched.

        Raises:
            SpecError: A set-up is not legal, or cannot be searched so; nothing was started.
            LauncherError: It could not be started, or the last one still runs.
        """
        from smtc_lab.study.tuning.tuner import launch_tuning  # noqa: PLC0415  as above

        with self._starting:
            self._refuse_start()
            started = launch_tuning(self.jobs[0], question, catalog=self.catalog)
            self._show(started)
        return started

    def _tune_as_typed(self, values: object) -> TuningRun:
        from smtc_lab.views.tuning.asked import asked_question  # noqa: PLC0415  as above

        return self.tune(asked_question(values))

    def outcome(self, timeout_s: float | None = None) -> Any:  # noqa: ANN401  ComparisonOutcome, whose module is heavy
        """Wait for the end of what runs; return its outcome, ``Scaling`` or ``TuningFound``.

        Raises:
            LauncherError: Nothing was started, or it still runs after ``timeout_s`` seconds.
            RunFailedError: A launch failed, or it was stopped; says why.
        """
        return self._started().wait(timeout_s)

    def close(self) -> None:
        """Stop watching, and take the view away. What runs goes on."""
        if self._watch is not None:
            self._watch.close()
        super().close()

    def on_end(self) -> None:
        """Take note of the end; ``info`` tells it."""

    def _refuse_start(self) -> None:
        problems = [problem for of_one in self.problems for problem in of_one]
        if problems:
            raise SpecError(problems)
        if self.comparison is not None and not self.comparison.state.is_terminal:
            raise LauncherError(
                f"{self.comparison.request.kind.capitalize()} {self.comparison.name!r} still "
                "runs. Stop it, or wait for its end."
            )

    def _started(self) -> ComparisonRun | ScalingRun | TuningRun:
        if self.comparison is None:
            raise LauncherError("Nothing was started yet. Press Run, or call run().")
        return self.comparison

    def _show(self, comparison: ComparisonRun | ScalingRun | TuningRun) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch.join()
        self.comparison = comparison
        self._watch = kind_of(comparison).watch(comparison.folder.path, self.send, self)
        self.set_trait("result", "")
        self.set_trait("stop_problem", "")
        self.on_values(self._watch.first())
        self.set_trait("running", comparison.name)
        self._watch.start()

    def _start_and_tell(self, start: Callable[[], object]) -> None:
        self.set_trait("start_problem", "")
        try:
            start()
        except (SmtcLabError, OSError) as error:
            self.set_trait("start_problem", str(error))

    def _start_apart(self, start: Callable[[], object]) -> None:
        threading.Thread(
            target=self._start_and_tell, args=(start,), name="smtc-run", daemon=True
        ).start()

    def _stop_watched(self) -> None:
        if self.comparison is not None:
            self.comparison.stop()

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        if not isinstance(content, dict):
            return
        if self._watch is not None and self._watch.answer(content):
            return
        answers = (
            self.answer_forecast,
            self.answer_ladders,
            self.answer_spot,
            self.answer_environments,
            self.answer_scripts,
        )
        if any(answer(content) for answer in answers):
            return
        if content.get("type") == "run":
            self._start_apart(self.run)
        elif content.get("type") == "scale":
            devices = content.get("devices")
            if isinstance(devices, list) and all(type(count) is int for count in devices):
                self._start_apart(partial(self.scale, devices))
        elif content.get("type") == "tune":
            self._start_apart(partial(self._tune_as_typed, content.get("question")))
        elif content.get("type") == "tuning-part":
            self.send({"type": "tuning-part", "module": built_front_end("tuning.js")})
        elif content.get("type") == "stop":
            self.stop()

    @traitlets.observe("value", "rounds", "environments")
    def _check(self, change: Any) -> None:  # noqa: ANN401  traitlets has no type for it
        # environments are told by a thread, and what they make wrong with what is typed
        with self._state_lock, self.hold_sync():
            checked = checked_set_ups(
                self.value, self.rounds, environments=self.environment_choices
            )
            if not any(checked.problems):
                self._jobs = list(checked.jobs)
            if change.name != "environments":  # why it could not be started may be mended
                self.set_trait("start_problem", "")
            self.set_trait("cautions", list(checked.cautions))
            self.set_trait("problems", [list(problems) for problems in checked.problems])
            self.set_trait("code", checked.code)
