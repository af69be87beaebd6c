"""What every launcher promises."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from smtc_lab.display import BundleDisplayed
from smtc_lab.errors import LauncherError
from smtc_lab.machine.stored_text import stored_json, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.machine.environments.probe import EnvironmentFacts
    from smtc_lab.metrics.records.records import EventRecord
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.state import RunState


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a launch orders that is paid for."""

    worst_case_usd: float | None
    """The most that it can cost in USD; None: a price is unknown."""

    words: str
    """What it may cost, for the one who is asked to confirm it."""

    refusal: str = ""
    """Why it is not placed whatever is confirmed, and what to do; empty: it may be."""


@dataclass(frozen=True, kw_only=True)
class LaunchPlan(BundleDisplayed):
    """The exact request to a launcher, and what it costs. Made without credentials."""

    _html_view: ClassVar[str] = "smtc_lab.views.launch.plan_display"
    _bundle_view: ClassVar[str] = "smtc_lab.views.launch.plan_display"

    launcher: str
    """Name of the launcher."""

    job: TrainingJob
    """The job, with its name."""

    instances: tuple[InstancePlan, ...]
    """Every instance."""

    usd_per_hour: float | None
    """Price of all instances per hour in USD; None: a price is unknown."""

    price_notes: tuple[str, ...]
    """Each type's price with its kind and date."""

    facts: dict[str, Any] = field(default_factory=dict)
    """How it will be carried out; goes into the run's state as it is."""

    order: Order | None = None
    """What it orders that is paid for; None: nothing."""

    request: Mapping[str, Any] | None = None
    """What the engine's service is sent; None: there is no service."""

    environment: EnvironmentFacts | None = None
    """Python environment of the entry point; None: another machine brings it."""

    @property
    def num_trainers(self) -> int:
        """Trainers of the job, on all instances."""
        return sum(len(instance.ranks) for instance in self.instances)


@dataclass(frozen=True, kw_only=True)
class Handle:
    """What a launcher needs to find a run again. Stored before anything is started."""

    launcher: str
    """Name of the launcher."""

    job_name: str
    """Name of the job."""

    run_folder: str
    """Folder of the run on this machine."""

    remote: dict[str, str] = field(default_factory=dict)
    """Names of the run at the launcher's service; empty on the local launcher."""

    def to_json(self) -> str:
        """Return the handle as JSON text."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the handle that lies in a file.

        Raises:
            LauncherError: There is none, or it is damaged.
        """
        try:
            values = stored_json(path.parent, path)
            remote = values.get("remote", {})
            return cls(
                launcher=text_of(values, "launcher"),
                job_name=text_of(values, "job_name"),
                run_folder=text_of(values, "run_folder"),
                remote={name: str(value) for name, value in remote.items()},
            )
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise LauncherError(
                f"The handle {str(path)!r} cannot be read ({error}). Its run can neither be "
                "followed nor stopped by name; 'smtc-lab runs sweep' finds what still runs."
            ) from error


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """One line that an entry point printed."""

    host: str
    """Where it was printed."""

    text: str
    """The line, without its end."""

    rank: int | None = None
    """Which of several trainers printed it; None: the instance has no other process."""

    @property
    def source(self) -> str:
        """Who printed it, for people."""
        return self.host if self.rank is None else f"{self.host}-rank{self.rank}"


@dataclass(frozen=True, kw_only=True)
class News:
    """What happened to a run since the last poll."""

    state: RunState
    """Where the run stands now."""

    log: tuple[LogLine, ...]
    """Lines printed since."""

    events: tuple[EventRecord, ...]
    """Events since."""

    cursor: dict[str, int]
    """Give this to the next poll. JSON, so that it survives a restart."""


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """Something of a run that is over, and still there."""

    job_name: str
    """The run that it belongs to."""

    what: str
    """What it is, for people."""

    pids: tuple[int, ...] = ()
    """Its processes, on the local launcher."""


@dataclass(frozen=True, kw_only=True)
class CheckLine:
    """What one check of an account has found."""

    what: str
    """What was looked at."""

    verdict: Literal["ok", "problem", "unknown"]
    """``unknown``: it cannot be seen from here, for lack of a permission to look, say."""

    found: str
    """What was found, or what is wrong and what to do."""


class Launcher(Protocol):
    """A place where training jobs run.

    ``check`` and ``plan`` are pure and need no credentials; ``start`` is the only method that
    spends money. When the trainers end, in whatever way, the data instances end within
    seconds; when the launching process dies, so does the run, unless it was detached.
    """

    name: ClassVar[str]
    """What ``on=`` and handles call it."""

    end_limit_s: ClassVar[float]
    """Longest time that the end of a run takes once it was asked for, in seconds."""

    @property
    def root(self) -> Path:
        """Folder of its runs on this machine."""
        ...

    def check(self, job: TrainingJob) -> list[str]:
        """Return every reason why this job cannot run here; empty: it can."""
        ...

    def plan(self, job: TrainingJob) -> LaunchPlan:
        """Return the exact request.

        Raises:
            SpecError: The job cannot run here; all reasons at once.
        """
        ...

    def common_dilation(self, jobs: Sequence[TrainingJob]) -> float | None:
        """Return the least time dilation at which each of several jobs fits here.

        None: an emulation that names none takes the machines as they are.
        """
        ...

    def check_account(self, *, live: bool) -> Iterator[CheckLine]:
        """Yield what is found of the account that is billed; nothing where there is none.

        Args:
            live: Ask the service. Else only what was given is looked at.
        """
        ...

    def start(self, plan: LaunchPlan, *, detach: bool = False) -> Handle:
        """Start a run and return at once. A second call with the same plan starts nothing.

        Raises:
            LauncherError: It could not be started; nothing of it is left.
        """
        ...

    def poll(self, handle: Handle, cursor: dict[str, int] | None = None) -> News:
        """Return what happened since the cursor; None: since the begin."""
        ...

    def wait(self, handle: Handle, timeout_s: float | None = None) -> RunState:
        """Wait for the end of a run and return its state; at most ``timeout_s`` seconds."""
        ...

    def stop(self, handle: Handle, *, grace_s: float | None = None) -> RunState:
        """Stop a run and return its last state. Safe to call again, and on an ended run."""
        ...

    def interrupt(self, handle: Handle) -> None:
        """Take the instances of a run away, as a spot market does; another attempt follows.

        Raises:
            LauncherError: It does not run, or its instances cannot be taken away from here.
        """
        ...

    def resume(self, handle: Handle, *, detach: bool = False) -> None:
        """Start another attempt of a run that ended without success, and return at once.

        Raises:
            LauncherError: It did not end so, or it could not be started.
        """
        ...

    def sweep(self, *, stop: bool = False) -> list[Leftover]:
        """Return what is left of runs that are over; with ``stop``, end it."""
        ...
