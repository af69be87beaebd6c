"""What a comparison would launch, and why it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_types import own_types
from smtc_lab.errors import SpecError
from smtc_lab.launchers.dilation import at_one_dilation
from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import launcher_named
from smtc_lab.metrics.result import evidence_of
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.launch_name import launch_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import StrPath

    from smtc_lab.launchers.launcher import Launcher, LaunchPlan
    from smtc_lab.spec.job import TrainingJob


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What a comparison launches."""

    jobs: tuple[TrainingJob, ...]
    """One for each cluster, the baseline first; all emulations of one time dilation."""

    launches: tuple[LaunchPlan, ...]
    """Every launch, in the order in which they run."""

    created: datetime
    """When it was made; the launches are named by it."""

    launcher: Launcher
    """Where they run."""

    catalog: Catalog
    """Types and prices."""

    within: float | None = None
    """How well every speed-up is to be known for the rounds to end early; None: none does."""

    @property
    def rounds(self) -> int:
        """Rounds, at most."""
        return len(self.launches) // len(self.jobs)

    @property
    def looks(self) -> int:
        """Rounds after which its verdict may be the last word: from the second one on."""
        return 1 if self.within is None else max(1, self.rounds - 1)

    def request(self, *, parity: bool) -> StudyRequest:
        """Return what the folder of this comparison keeps."""
        types = own_types(self.catalog, (job.cluster for job in self.jobs))
        return StudyRequest(
            jobs=self.jobs,
            rounds=self.rounds,
            options={"parity": parity, "instance_types": types, "within": self.within},
            root=self.launcher.root,
            created=self.created,
        )


def plan_comparison(  # noqa: PLR0913  as above
    jobs: Sequence[TrainingJob],
    *,
    rounds: int,
    within: float | None = None,
    on: str | Launcher = THIS_MACHINE,
    root: StrPath | None = None,
    catalog: Catalog | None = None,
    created: datetime | None = None,
) -> ComparisonPlan:
    """Return what a comparison would launch, without starting anything.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        within: As for ``compare``.
        on: Name of the launcher, or a launcher.
        root: Folder of runs; None: the default one, or that of the given launcher.
        catalog: Types and prices; None: the catalog that comes with the package.
        created: Moment that the launches are named by; None: now.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; all reasons at once.
    """
    catalog = Catalog.load() if catalog is None else catalog
    launcher = launcher_named(on, root=root, catalog=catalog) if isinstance(on, str) else on
    jobs = _comparable(jobs, rounds, within, launcher)
    created = datetime.now(UTC) if created is None else created
    return ComparisonPlan(
        jobs=tuple(jobs),
        launches=tuple(_launches(jobs, rounds, launcher, created)),
        created=created,
        launcher=launcher,
        catalog=catalog,
        within=within,
    )


def _comparable(
    jobs: Sequence[TrainingJob], rounds: int, within: float | None, launcher: Launcher
) -> list[TrainingJob]:
    """Return the jobs at one time dilation, or say why they cannot be compared."""
    labels = [job.cluster.label for job in jobs]
    problems = []
    if len(jobs) < 1:
        problems.append("There is no cluster to compare. Give at least one.")
    if rounds < 1:
        problems.append(f"rounds={rounds} would launch nothing. Give at least 1.")
    if within is not None and not 0 < within < 1:
        problems.append(f"within={within} is no fraction between 0 and 1. Give 0.05 for 5 %.")
    if repeated := sorted({label for label in labels if labels.count(label) > 1}):
        problems.append(
            f"Two clusters are called {repeated[0]!r}, so that a table could not tell them "
            "apart. Give each a name: NAME@GROUP=TYPE:COUNT."
        )
    problems += _unlike_clocks(jobs)
    problems += _launch_problems(jobs, launcher)
    if problems:
        raise SpecError(problems)
    return at_one_dilation(jobs, launcher.common_dilation)


def _unlike_clocks(jobs: Sequence[TrainingJob]) -> Iterator[str]:
    """Yield why the seconds of jobs cannot be compared; nothing where they can."""
    emulated = [job.cluster.label for job in jobs if evidence_of(job) == "emulated"]
    real = [job.cluster.label for job in jobs if job.cluster.label not in emulated]
    if emulated and real:
        yield (
            f"{' and '.join(emulated)} would be emulated and {' and '.join(real)} not, so "
            "their seconds could not be compared. Emulate all clusters, or none "
            f"(--no-emulation); {LOCAL!r} is this machine, which nothing emulates."
        )
        return
    types = [{group.instance_type for group in job.cluster.instance_groups} for job in jobs]
    here = [job.cluster.label for job, each in zip(jobs, types, strict=True) if LOCAL in each]
    is_declared = any(job.emulation and job.emulation.device_step_time_s for job in jobs)
    if is_declared and here and set().union(*types) != {LOCAL}:
        yield (
            f"{' and '.join(here)} would run at the full speed of this machine ({LOCAL!r}) "
            "beside emulated instance types and a declared device time, so their seconds could "
            "not be compared. Name an instance type in its place."
        )


def _launch_problems(jobs: Sequence[TrainingJob], launcher: Launcher) -> list[str]:
    """Return why jobs cannot run there, each reason once, with whose it is where not all's."""
    labels_of: dict[str, list[str]] = {}
    for job in jobs:
        for text in dict.fromkeys(launcher.check(job)):
            labels_of.setdefault(text, []).append(job.cluster.label)
    return [
        text if len(labels) == len(jobs) > 1 else f"{' and '.join(labels)}: {text}"
        for text, labels in labels_of.items()
    ]


def _launches(
    jobs: Sequence[TrainingJob], rounds: int, launcher: Launcher, stamp: datetime
) -> list[LaunchPlan]:
    plans = []
    for round_number in range(rounds):
        turn = jobs if round_number % 2 == 0 else list(reversed(jobs))
        for job in turn:
            label = job.cluster.label
            name = launch_name(job.entry_point, label, f"r{round_number + 1}", stamp=stamp)
            plans.append(launcher.plan(job.model_copy(update={"job_name": name})))
    return plans
