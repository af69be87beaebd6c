"""A run's job on another engine: what would be launched, in what it differs, what it costs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from smtc_lab.display import BundleDisplayed, in_notebook
from smtc_lab.errors import SpecError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.engines import engine_named
from smtc_lab.launchers.kept_source import given_back
from smtc_lab.machine.installed import loaded
from smtc_lab.neutral_text import neutral
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_job
from smtc_lab.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from smtc_lab.launchers.confirmation import Confirmation
    from smtc_lab.launchers.launcher import Handle, Launcher, LaunchPlan
    from smtc_lab.store.run_folder import RunFolder

R = TypeVar("R")

_SHOWN = 48
_LONGEST = 200
_OF_THIS_MACHINE = ("python_environment", "working_dir", "market")


@dataclass(frozen=True, kw_only=True)
class PlannedElsewhere(BundleDisplayed, Generic[R]):
    """What a run would be on another engine. Nothing was started; ``launch`` does it."""

    _html_view = _bundle_view = "smtc_lab.views.launch.elsewhere_display"

    run_name: str
    """The run that it repeats."""

    plan: LaunchPlan
    """The exact request, with the greatest cost (``plan.order``)."""

    differences: tuple[tuple[str, str, str], ...]
    """What is not the same: its name, as it was, and as it will be."""

    start: Callable[[LaunchPlan, Confirmation, bool | None], R]
    """What ``launch`` does."""

    def launch(self, *, confirm: Confirmation = False, detach: bool | None = None) -> R:
        """Start it and return the run at once.

        Args:
            confirm: Whether the greatest cost may be paid: True, or ``"price unknown"``.
            detach: As for ``smtc_lab.launch``.

        Raises:
            LauncherError: It costs something and was not confirmed, or cannot be started.
        """
        return self.start(self.plan, confirm, detach)

    @property
    def table(self) -> str:
        """The differences as text."""
        rows = [tuple(text[:_SHOWN] for text in one) for one in self.differences]
        return "\n".join(aligned([("", self.run_name, "on " + self.plan.launcher), *rows]))

    def __str__(self) -> str:
        order = self.plan.order
        cost = "It orders nothing that is paid for." if order is None else order.words
        return f"{self.table}\n\n{cost}\n\nNothing was started: .launch(confirm=True) does."

    __repr__ = __str__


class OnOtherEngines:
    """What a run can do with its job on another engine; a part of ``Run``."""

    handle: Handle
    folder: RunFolder

    def __init__(self, launcher: Any, handle: Handle) -> None:  # noqa: ANN401  each kind of it
        raise NotImplementedError

    def on(
        self,
        engine: str | Launcher,
        **changes: Any,  # noqa: ANN401  fields of a job
    ) -> PlannedElsewhere[Self]:
        """Return what its job would be on another engine, with its code, and start nothing.

        ::

            there = run.on("sagemaker", cluster="gpu=ml.g5.xlarge:1", max_runtime_s=3600)
            there  # every difference, and the greatest cost
            there.launch(confirm=True)

        What only this machine has is left out: emulation, market, Python environment, working
        folder.

        Args:
            engine: Its name, or a launcher with its settings, whose own ``confirm`` counts.
            **changes: Fields of the job that are to be others; ``cluster`` may be a text.

        Raises:
            SpecError: A change does not fit, or the job cannot run there; all reasons at once.
            LauncherError: There is no such engine, or the run's source was not kept.
        """
        job = read_job(self.folder)
        name = engine if isinstance(engine, str) else engine.name
        known, root = engine_named(name), self.folder.path.parent
        left_out = {} if known.runs_here else dict.fromkeys(_OF_THIS_MACHINE)
        if known.is_billed:
            left_out["emulation"] = None
        if isinstance(text := changes.get("cluster"), str):
            changes["cluster"] = Cluster.parse(text)
        script = given_back(self.folder, job.entry_point)
        changes = {"entry_point": script, **left_out, **changes}
        kind = loaded(known.launcher)
        launcher = kind(root=root) if isinstance(engine, str) else engine
        plan = launcher.plan(changed(job, changes))

        def start(plan: LaunchPlan, confirm: Confirmation, detach: bool | None) -> Any:  # noqa: ANN401, FBT001  of a class below
            is_new = isinstance(engine, str) and known.is_billed
            lives_on = in_notebook() if detach is None else detach
            chosen = kind(root=root, confirm=confirm) if is_new else launcher
            return type(self)(chosen, chosen.start(plan, detach=lives_on))

        return PlannedElsewhere(
            run_name=self.folder.job_name,
            plan=plan,
            differences=tuple(_differences(job, read_plan(self.folder), plan)),
            start=start,
        )


def _differences(
    job: TrainingJob, was: dict[str, Any], plan: LaunchPlan
) -> Iterator[tuple[str, str, str]]:
    """Yield what differs between a run and a plan: engine, fields of the job, price."""
    yield from _unlike("engine", was.get("launcher"), plan.launcher)
    before, after = (each.model_dump(mode="json") for each in (job, plan.job))
    for name in after:
        if name != "job_name":
            yield from _unlike(name, _of(name, before), _of(name, after))
    if was.get("launcher") != plan.launcher and plan.environment is None:
        yield "packages", "those of the run", "those of the image or the nodes"
    yield from _unlike("$/h in all", was.get("usd_per_hour"), plan.usd_per_hour)


def _of(name: str, values: dict[str, Any]) -> Any:  # noqa: ANN401  any JSON value
    """Return a field of a job; of variables the names, as values may be secrets."""
    return sorted(values[name]) if name == "environment" else values[name]


def _unlike(name: str, before: object, after: object) -> Iterator[tuple[str, str, str]]:
    if before != after:
        texts = (
            each if isinstance(each, str) else json.dumps(each) for each in (before, after)
        )
        first, second = (neutral(text, longest=_LONGEST) for text in texts)
        yield name, first, second


def changed(job: TrainingJob, changes: Mapping[str, Any]) -> TrainingJob:
    """Return a job of a run without its name, and with other fields.

    Raises:
        SpecError: A change does not fit, or is of what an argument of the script says.
    """
    made = TrainingJob(**{**dict(job), "job_name": None, **changes})
    said = [text.partition("=")[0] for text in made.arguments if text.startswith("--")]
    said = [name for name in said if name[2:].replace("-", "_") in made.hyperparameters]
    if said and "hyperparameters" in changes and "arguments" not in changes:
        raise SpecError(
            f"hyperparameters has {said[0][2:]!r}, but the run has the argument {said[0]}, "
            f"which its script goes by: arguments={list(made.arguments)!r}. Change that."
        )
    return made
