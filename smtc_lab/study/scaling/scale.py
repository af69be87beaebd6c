"""Runs a job on several numbers of devices, and says how it grows with them."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import RunFailedError, SpecError, StoreError
from smtc_lab.launchers.run import lives_on
from smtc_lab.metrics.scaling.scale_runs import (
    DEFAULT_BOUND,
    ScaledSetUp,
    ScalingQuestion,
    scaling_of,
)
from smtc_lab.metrics.scaling.scaling import Scaling
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import DEFAULT_ROUNDS, carry_out
from smtc_lab.study.comparison.plan import plan_comparison
from smtc_lab.study.scaling.same_model import SameModelLaunches
from smtc_lab.study.scaling.set_ups import scaled_jobs
from smtc_lab.study.study_run import StudyRun, start_study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from _typeshed import StrPath

    from smtc_lab.metrics.scaling.scaling import Mode
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.watched_run import LaunchWatch, Progress

SCALING = "scaling"
"""Name of the kind of study."""

DEFAULT_DEVICES = (1, 2, 4, 8)
"""Numbers of devices, where nobody says them."""


class ScalingRun(StudyRun):
    """A scaling study that goes on by itself, or has ended."""

    @property
    def scaling(self) -> Scaling | None:
        """The result; None: there is none, or not yet.

        Raises:
            StoreError: Its file is damaged.
        """
        written = self.result_json if self.request.kind == SCALING else None
        return None if written is None else Scaling.from_json(written)

    def wait(
        self,
        timeout_s: float | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> Scaling:
        """Wait for the end and return the result. An interrupt (Ctrl-C) stops everything.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.
            progress: Called about twice a second meanwhile.

        Raises:
            RunFailedError: A launch failed, or it was stopped; says why.
            LauncherError: It still runs after ``timeout_s``.
        """
        self.await_end(timeout_s, progress=progress)
        scaling = self.scaling
        if scaling is None:
            raise RunFailedError(f"The result of {self.name!r} is gone. Start it again.")
        return scaling


def scale(
    job: TrainingJob | Sequence[TrainingJob],
    *,
    devices: Sequence[int] = DEFAULT_DEVICES,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,  # noqa: ANN401  ``launch_scaling`` checks them
) -> Scaling:
    """Run a job on several numbers of devices in interleaved rounds; say how it grows.

    It is a comparison whose set-ups are ordered by their devices: same launches, same
    intervals, one warm-up for all.

    ::

        lab.scale(job, devices=(1, 2, 4), samples_per_epoch=50_000)

    Args:
        job: What to run; several are a curve each, told apart by the names of their clusters.
        devices: Numbers of devices. The training group grows by instances of its type, a data
            group stays as it is.
        progress: Called about twice a second while steps are made.
        **options: As for ``launch_scaling``.

    Raises:
        SpecError: A set-up cannot run here; nothing was started.
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    study = launch_scaling(job, devices=devices, **options)
    return study.wait(progress=progress)


def launch_scaling(  # noqa: PLR0913  options by name, all with a default
    job: TrainingJob | Sequence[TrainingJob],
    *,
    devices: Sequence[int] = DEFAULT_DEVICES,
    mode: Mode = "weak",
    batch: str = "batch_size",
    rounds: int = DEFAULT_ROUNDS,
    within: float | None = None,
    bound: float = DEFAULT_BOUND,
    bigger_instances: bool = False,
    samples_per_epoch: int | None = None,
    parity: bool = False,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    detach: bool | None = None,
) -> ScalingRun:
    """Start a scaling study and return at once; a process of its own makes the launches.

    Args:
        job: As for ``scale``.
        devices: As for ``scale``.
        mode: ``weak``: each device keeps its batch. ``strong``: the step keeps its batch, and
            the devices share it.
        batch: Hyperparameter of the script that holds the batch of a device; strong scaling
            divides it.
        rounds: Launches of each set-up, at least 1.
        within: End as soon as every speed-up is known within this fraction of it.
        bound: Share of what a device before brought that an added one must bring, for the knee.
        bigger_instances: Before more instances take types of the same family with more
            accelerators.
        samples_per_epoch: For the price of an epoch; None: it is not told.
        parity: Whether to check, in short launches of their own, that several trainers train
            the model of one process, as ``check_parity`` does.
        root: Folder of runs; None: the default one. The study lies beside it.
        catalog: Types and prices; None: the catalog that comes with the package.
        detach: Let it go on when this process ends; None: in a notebook, and not in a script.

    Raises:
        SpecError: A set-up cannot run here; nothing was started.
        LauncherError: It could not be started; nothing of it is left.
    """
    _refuse(mode, bound, samples_per_epoch)
    catalog = Catalog.load() if catalog is None else catalog
    asked_for = [job] if isinstance(job, TrainingJob) else list(job)
    jobs, set_ups = scaled_jobs(
        asked_for,
        devices,
        mode=mode,
        batch=batch,
        bigger_instances=bigger_instances,
        catalog=catalog,
    )
    plan = plan_comparison(jobs, rounds=rounds, within=within, root=root, catalog=catalog)
    check = SameModelLaunches(plan.jobs, batch=batch, catalog=catalog)
    if parity:
        check.refuse(plan.launcher)
    asked = plan.request(parity=parity)
    options = {
        "mode": mode,
        "bound": bound,
        "samples_per_epoch": samples_per_epoch,
        "set_ups": [asdict(each) for each in set_ups],
        "batch": batch,
        "bigger_instances": bigger_instances,
        "clusters": [each.cluster.model_dump(mode="json") for each in asked_for],
    }
    request = replace(asked, kind=SCALING, options={**asked.options, **options})
    return ScalingRun(start_study(request, detach=lives_on(detach)))


def carry_out_request(request: StudyRequest, watch: LaunchWatch) -> str:
    """Carry out a scaling study that was asked for, as its process does; the result as JSON.

    Raises:
        SpecError: A job cannot run here any more.
        RunFailedError: A launch failed or was stopped; says which and why.
    """
    plan = plan_comparison(
        request.jobs,
        rounds=request.rounds,
        within=request.options.get("within"),
        root=request.root,
        catalog=request.catalog,
        created=request.created,
    )
    outcome = carry_out(plan, watch)
    question = question_of(request, catalog=plan.catalog, looks=plan.looks)
    scaling = scaling_of(outcome.runs, outcome.comparison, question)
    if request.options.get("parity"):
        check = SameModelLaunches(
            plan.jobs, batch=str(request.options["batch"]), catalog=plan.catalog
        )
        scaling = scaling.with_same_models(*check(launcher=plan.launcher, watch=watch))
    return scaling.to_json()


def question_of(request: StudyRequest, *, catalog: Catalog, looks: int) -> ScalingQuestion:
    """Return what a request asks.

    Args:
        request: Of a scaling study.
        catalog: Types and prices.
        looks: Moments at which the result is looked at before it is the final one.

    Raises:
        StoreError: It is damaged.
    """
    options = request.options
    try:
        set_ups = tuple(_set_up(each) for each in options["set_ups"])
        epoch = options["samples_per_epoch"]
        return ScalingQuestion(
            mode="strong" if options["mode"] == "strong" else "weak",
            set_ups=set_ups,
            bound=float(options["bound"]),
            samples_per_epoch=None if epoch is None else int(epoch),
            catalog=catalog,
            looks=looks,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"What this scaling study asks cannot be read ({error!r}). Restore request.json "
            "from a copy; its runs can still be read one by one."
        ) from error


def _set_up(values: Mapping[str, Any]) -> ScaledSetUp:
    return ScaledSetUp(
        set_up=str(values["set_up"]),
        curve=str(values["curve"]),
        devices=max(1, int(values["devices"])),
        instances=int(values["instances"]),
        idle_devices=int(values["idle_devices"]),
    )


def _refuse(mode: str, bound: float, samples_per_epoch: int | None) -> None:
    problems = []
    if mode not in {"weak", "strong"}:
        problems.append(f"mode={mode!r} is neither 'weak' nor 'strong'. Give one of them.")
    if not 0 < bound < 1:
        problems.append(f"bound={bound} is no fraction between 0 and 1. Give 0.5 for 50 %.")
    if samples_per_epoch is not None and samples_per_epoch < 1:
        problems.append(
            f"samples_per_epoch={samples_per_epoch} is below 1. Give the number of samples."
        )
    if problems:
        raise SpecError(problems)
