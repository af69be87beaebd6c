"""What commands print: the one way to standard output and standard error."""

from __future__ import annotations

import click

from smtc_lab.neutral_text import neutral


def say(text: str, *, err: bool = False) -> None:
    """Print a text, with nothing in it that a terminal would obey.

    Args:
        text: Anything: names, logs and errors are anybody's.
        err: Print it to standard error.
    """
    click.echo(neutral(text), err=err)
