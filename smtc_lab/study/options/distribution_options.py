"""The options that say how a job is spread over devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from smtc_lab.spec.distribution import Schedule, parse_distribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.study.options.job_options import Refusals

FIELDS = ("data", "shard", "pipeline", "microbatches", "schedule", "tensor")
"""Their names, which are those of a distribution's fields."""


class SeveralValues(click.ParamType):  # type: ignore[type-arg]  # older ones have none
    """Several values with commas between them.

    Args:
        of: What each is.
    """

    def __init__(self, of: click.ParamType[Any]) -> None:
        self.of = of
        """What each is."""
        self.name = of.name

    def convert(
        self,
        value: Any,  # noqa: ANN401  as click's own
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[Any, ...]:
        """Return the values of a text."""
        if isinstance(value, tuple):
            return value
        return tuple(self.of.convert(each.strip(), param, ctx) for each in value.split(","))


_TYPES: dict[str, click.ParamType[Any]] = {
    "data": click.STRING,
    "schedule": click.Choice(get_args(Schedule)),
}
_METAVARS = {
    "data": "N|auto",
    "shard": "M",
    "pipeline": "N",
    "microbatches": "N",
    "tensor": "N",
}
_HELP = {
    "data": "Replicas of the model, each trained by a process of its own; 'auto': one on every "
    "accelerator. Default: one trainer on each training instance.",
    "shard": "Trainers that share the parameters of one replica (FSDP2). Default: 1.",
    "pipeline": "Trainers that each run a stage of the model; the script calls session.step. "
    "Default: 1.",
    "microbatches": "Parts of a batch that go through a pipeline one after the other. Default: "
    "two for each of its trainers.",
    "schedule": "In which order the stages of a pipeline compute. Default: 1f1b.",
    "tensor": "Trainers of one instance that each have a part of every layer; the script calls "
    "session.prepare. Default: 1.",
}


def _option(name: str, *, listed: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    of, metavar, told = _TYPES.get(name, click.INT), _METAVARS.get(name), _HELP[name]
    if listed:
        if isinstance(of, click.Choice):
            told = told.replace(".", f": {', '.join(of.choices)}.", 1)
        of, metavar = SeveralValues(of), f"{metavar or 'NAME'},…"
    option = f"--{name.replace('_', '-')}"
    return click.option(option, type=of, metavar=metavar, help=told)


SHARD = _option("shard", listed=False)


def DISTRIBUTION(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802  as click's own
    """Add the options of one distribution."""
    for name in reversed(FIELDS):
        command = _option(name, listed=False)(command)
    return command


def DISTRIBUTIONS(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802  as click's own
    """Add the options of distributions that are compared."""
    for name in reversed(FIELDS):
        command = _option(name, listed=True)(command)
    return command


def distribution(options: dict[str, Any], refusals: Refusals) -> Any:  # noqa: ANN401  a job's field
    """Return the distribution that a command line says; None: it says nothing."""
    given = {name: options.get(name) for name in FIELDS}
    return refusals.tried(parse_distribution, given.pop("data"), given.pop("shard"), **given)


def listed_values(options: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each field that a command line gives, one or several."""
    given = {name: options[name] for name in FIELDS if options[name] is not None}
    return {
        name: value if isinstance(value, tuple) else (value,) for name, value in given.items()
    }
