"""Tunes the hyperparameters of a job, with SageMaker's names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_types import own_types
from smtc_lab.errors import LauncherError, RunFailedError, SpecError
from smtc_lab.launchers.engines import THIS_MACHINE, engine_named, runs_here
from smtc_lab.launchers.run import launcher_named, lives_on
from smtc_lab.machine.cores import available_cores, machine_facts, versions
from smtc_lab.machine.installed import loaded
from smtc_lab.spec.tuning.question import TuningQuestion
from smtc_lab.study.folder import StudyFolder, StudyRequest, studies_root
from smtc_lab.study.study_run import start_study
from smtc_lab.study.tuning.book import QUESTION, question_of
from smtc_lab.study.tuning.ledger import TrialLedger, read_ledger
from smtc_lab.study.tuning.search import TrialSearch
from smtc_lab.study.tuning.suggest import Suggestions
from smtc_lab.study.tuning.tuning_run import TUNING, TuningRun, money_problems
from smtc_lab.study.tuning.warm_start import known_trials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import StrPath

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.tuning.ranges import ParameterRange
    from smtc_lab.study.watched_run import LaunchWatch, Progress


class HyperparameterTuner:
    """Searches the hyperparameters of a job, with the names of SageMaker's tuner.

    ::

        tuner = lab.HyperparameterTuner(
            job,
            objective_metric_name="loss",
            objective_type="Minimize",
            hyperparameter_ranges={"lr": lab.ContinuousParameter(1e-4, 1e-1)},
            max_jobs=20,
            budget_usd=2.0,
        )
        tuner.fit()
        tuner.analytics().dataframe()

    Args:
        job: What each trial trains; what is not searched stays as it is.
        objective_metric_name: As the fields of ``TuningQuestion`` say, so the rest.
        hyperparameter_ranges: By name.
        **question: The other fields of a ``TuningQuestion``.

    Raises:
        SpecError: What is asked cannot be searched; all reasons at once.
    """

    def __init__(
        self,
        job: TrainingJob,
        objective_metric_name: str,
        hyperparameter_ranges: Mapping[str, ParameterRange],
        **question: Any,  # noqa: ANN401  TuningQuestion checks them
    ) -> None:
        self.job = job
        """What each trial trains."""
        self.question = TuningQuestion(
            objective_metric_name=objective_metric_name,
            hyperparameter_ranges=dict(hyperparameter_ranges),
            **question,
        )
        """What is searched."""
        self.study: TuningRun | None = None
        """The search; None: it has not begun."""

    def fit(
        self,
        *,
        wait: bool = True,
        on: str = THIS_MACHINE,
        root: StrPath | None = None,
        detach: bool | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> TuningRun:
        """Search; each trial is a run.

        Args:
            wait: Whether to wait for the end.
            on: Name of the launcher of the trials.
            root: Folder of runs; None: the default one.
            detach: Let it go on when this process ends; None: in a notebook.
            progress: Called about twice a second while it is waited for.

        Raises:
            SpecError: A trial cannot run here; nothing was started.
            RunFailedError: No trial could succeed, or it was stopped.
        """
        self.study = launch_tuning(self.job, self.question, on=on, root=root, detach=detach)
        if wait:
            self.study.wait(progress=progress)
        return self.study

    def request(self, on: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401  of its launcher
        """Return the exact request by which a service searches by itself; nothing is sent.

        Args:
            on: Name of the launcher, for example that of SageMaker:
                ``CreateHyperParameterTuningJob``.
            **settings: What that launcher takes: account, place, limits.

        Raises:
            SpecError: The service would refuse it; all reasons at once.
            LauncherError: It launches trials one by one, which ``fit(on=...)`` does.
        """
        function = engine_named(on).tuning_request
        if not function:
            raise LauncherError(
                f"The launcher {on!r} searches nothing by itself. Search with fit(on={on!r}), "
                "which launches trial after trial there."
            )
        made: dict[str, Any] = loaded(function)(
            self.job, self.question, catalog=Catalog.load(), **settings
        )
        return made

    def best_training_job(self) -> str:
        """Return the job name of the best trial so far.

        Raises:
            RunFailedError: No trial has an objective yet.
        """
        best = None if self.study is None else self.study.found.best
        if best is None:
            raise RunFailedError(
                "No trial has an objective yet, so none is the best. Call fit(), and wait."
            )
        return best.run

    def stop_tuning_job(self) -> None:
        """Stop the trials that run, and begin no other one."""
        if self.study is not None:
            self.study.stop()

    def analytics(self) -> TuningAnalytics:
        """Return the trials as SageMaker's analytics have them.

        Raises:
            RunFailedError: The search has not begun.
        """
        if self.study is None:
            raise RunFailedError("There are no trials yet. Call fit() first.")
        return TuningAnalytics(self.study)


class TuningAnalytics:
    """The trials of a search: ``tuner.analytics().dataframe()``."""

    def __init__(self, study: TuningRun) -> None:
        self._study = study

    def dataframe(self) -> Any:  # noqa: ANN401  pandas need not be there
        """Return a ``pandas.DataFrame`` of the trials so far, as ``TuningFound.to_pandas``."""
        return self._study.found.to_pandas()


def launch_tuning(  # noqa: PLR0913  options by name, all with a default
    job: TrainingJob,
    question: TuningQuestion,
    *,
    on: str = THIS_MACHINE,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    detach: bool | None = None,
) -> TuningRun:
    """Start a search of hyperparameters and return at once; a process carries it out.

    Args:
        job: What each trial trains.
        question: What is searched.
        on: Name of the launcher of the trials.
        root: Folder of runs; None: the default one. The study lies beside it.
        catalog: Types and prices; None: the catalog that comes with the package.
        detach: Let it go on when this process ends; None: in a notebook, and not in a script.

    Raises:
        SpecError: A trial cannot run there, or its money is unknown; nothing was started.
        LauncherError: Trials there would be paid for, or it could not be started; nothing of it
            is left.
    """
    catalog = Catalog.load() if catalog is None else catalog
    if engine_named(on).is_billed:
        raise LauncherError(
            f"Each trial on {on!r} would be paid for, and nobody could confirm it. Send the "
            f"service what request({on!r}, ...) returns, which has its own limits."
        )
    launcher = launcher_named(on, root=root, catalog=catalog)
    Suggestions(question)  # which may lack Optuna
    known = known_trials(question, job, root=launcher.root)
    problems = [*launcher.check(job), *money_problems(question, job, catalog)]
    if problems:
        raise SpecError(problems)
    request = StudyRequest(
        kind=TUNING,
        jobs=(job,),
        rounds=0,
        root=launcher.root,
        created=datetime.now(UTC),
        options={
            QUESTION: question.model_dump(mode="json"),
            "on": on,
            "known_trials": known,
            "instance_types": own_types(catalog, [job.cluster]),
        },
    )
    return TuningRun(start_study(request, detach=lives_on(detach)))


def at_once_of(question: TuningQuestion, job: TrainingJob, *, on: str) -> tuple[int, str]:
    """Return how many trials run at once, and why it is fewer than asked; empty: it is not.

    Trials side by side take each other's cores. That changes no objective, but their times.
    """
    asked, num_cores = question.max_parallel_jobs, available_cores()
    if not runs_here(on) or asked == 1:
        return asked, ""
    if question.budget_usd is not None:
        return 1, "One trial at a time: what it costs is counted by its time on this machine."
    instances = sum(group.instance_count for group in job.cluster.instance_groups)
    held = max(1, int(num_cores // instances))
    if asked <= held:
        return asked, ""
    return held, f"{held} of {asked} trials at a time: this machine has {num_cores:g} cores."


def carry_out_request(request: StudyRequest, watch: LaunchWatch) -> str:
    """Search what was asked, as the process of the study does; the result as JSON.

    Raises:
        RunFailedError: No trial could succeed, or it was stopped; says why.
    """
    study = str(watch.study)
    folder = StudyFolder(studies_root(request.root) / study)
    on, known = request.options.get("on", THIS_MACHINE), request.options.get("known_trials", [])
    launcher = launcher_named(on, root=request.root, catalog=request.catalog)
    question, job = question_of(request), request.jobs[0]
    at_once, watch.note = at_once_of(question, job, on=on)
    with TrialLedger(folder.path) as ledger:
        search = TrialSearch(
            question,
            job=job,
            launcher=launcher,
            ledger=ledger,
            past=read_ledger(folder.path),
            known=[(parameters, value) for parameters, value in known],
            study=study,
            created_s=request.created.timestamp(),
            most_at_once=at_once,
            watch=watch,
        )
        why_ended = search.run()
    found = search.book.found(request, why_ended=why_ended)
    machine = {**machine_facts(), "versions": versions()}
    return found.model_copy(update={"machine": machine}).to_json()
