"""The Python environments that a form offers, and what is wrong with a choice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments.named import (
    TODAY,
    XLA,
    PythonEnvironment,
    environments,
    find_environment,
)
from smtc_lab.machine.environments.probe import (
    EnvironmentFacts,
    environment_facts,
    todays_facts,
)

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob

_MOST_AT_ONCE = 4


@dataclass(frozen=True, kw_only=True)
class EnvironmentChoice:
    """One environment, as far as it is known."""

    name: str
    """What a job calls it."""

    torch: str | None = None
    """Version of torch; None: it has none, or was not asked yet."""

    torch_xla: str | None = None
    """Version of torch_xla; None: it has none, or was not asked yet."""

    problem: str = ""
    """Why no job can run in it; empty: one can, or it was not asked yet."""

    no_xla: str = ""
    """Why the compiler backend ``xla`` cannot be used in it; empty: it can, or it was not
    asked yet."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentChoices:
    """All environments of this machine, as far as they are known."""

    choices: tuple[EnvironmentChoice, ...]
    """The one that launches first, then by name."""

    no_xla: str
    """Why a job that names no environment cannot use the compiler backend ``xla``; empty: it
    can."""

    def problems(self, job: TrainingJob) -> list[str]:
        """Return what is wrong with the environment that a job names, and with its XLA there.

        No interpreter is asked, so this may be called at each key that is pressed.
        """
        name, needs_xla = job.python_environment, _needs_xla(job)
        if name is None:
            return [self.no_xla] if needs_xla and self.no_xla else []
        if name != TODAY:
            try:
                find_environment(name)
            except PythonEnvironmentError as error:
                return [str(error)]
        known = next((each for each in self.choices if each.name == name), None)
        if known is None:
            return []
        return list(filter(None, [known.problem, known.no_xla if needs_xla else ""]))


def named_choices() -> EnvironmentChoices:
    """Return the environments by name, without asking any but the one that launches."""
    others = (EnvironmentChoice(name=each.name) for each in _others())
    return _choices([_today(), *others])


def asked_choices() -> EnvironmentChoices:
    """Return the environments with what their interpreters tell; takes up to some seconds."""
    with ThreadPoolExecutor(_MOST_AT_ONCE) as threads:
        return _choices([_today(), *threads.map(_asked, _others())])


def _needs_xla(job: TrainingJob) -> bool:
    config = job.compiler_config
    if config is None or not config.enabled:
        return False
    return config.backend == "xla" and config.fallback == "error"


def _others() -> list[PythonEnvironment]:
    return [each for each in environments() if each.name != TODAY]


def _choices(choices: list[EnvironmentChoice]) -> EnvironmentChoices:
    today, *others = choices
    xla = next((each for each in others if each.name == XLA), None)
    if not today.no_xla:
        no_xla = ""
    elif xla is not None:
        no_xla = xla.no_xla or xla.problem
    else:
        no_xla = (
            "The compiler backend 'xla' needs torch_xla, which neither the environment "
            f"{TODAY!r} nor one named {XLA!r} has. Make one, with torch 2.9: 'smtc-lab "
            f"environment make {XLA}'."
        )
    return EnvironmentChoices(choices=tuple(choices), no_xla=no_xla)


def _today() -> EnvironmentChoice:
    return _told(todays_facts())


def _asked(environment: PythonEnvironment) -> EnvironmentChoice:
    try:
        return _told(environment_facts(environment.name))
    except PythonEnvironmentError as error:
        return EnvironmentChoice(name=environment.name, problem=str(error))


def _told(facts: EnvironmentFacts) -> EnvironmentChoice:
    why_not = facts.why_not_xla
    return EnvironmentChoice(
        name=facts.name,
        torch=facts.torch,
        torch_xla=facts.packages.get("torch-xla"),
        no_xla=""
        if why_not is None
        else f"The compiler backend 'xla' cannot be used: {why_not}. Choose another Python "
        "environment, or another compiler.",
    )
