"""What commands print: the one way to standard output and standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from smtc_lab.neutral_text import neutral
from smtc_lab.study.options.option_words import in_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob


def say(text: str, *, err: bool = False) -> None:
    """Print a text, with nothing in it that a terminal would obey.

    Args:
        text: Anything: names, logs and errors are anybody's.
        err: Print it to standard error.
    """
    click.echo(neutral(text), err=err)


def say_cautions(jobs: Sequence[TrainingJob], catalog: Catalog) -> None:
    """Print on standard error what a user should know before jobs are launched.

    Args:
        jobs: What is launched; several are compared, the baseline first.
        catalog: Where the instance types are looked up.
    """
    from smtc_lab.rules.before_launch import launch_cautions  # noqa: PLC0415  a help needs none

    for caution in launch_cautions(jobs, catalog):
        say(f"Caution: {in_options(caution)}", err=True)
