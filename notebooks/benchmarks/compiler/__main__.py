"""Measure some models at a terminal."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial

import click

from notebooks.benchmarks.compiler.rounds import measure_rounds
from notebooks.benchmarks.compiler.set_ups import DEFAULT, SET_UPS
from notebooks.benchmarks.compiler.table import rows_table
from notebooks.benchmarks.networks.models import MODELS, SIZES


@click.command()
@click.argument("models", nargs=-1, type=click.Choice(MODELS))
@click.option("--set-up", "set_ups", multiple=True, type=click.Choice(list(SET_UPS)))
@click.option("--repeats", default=3, show_default=True)
@click.option("--steps", default=10, show_default=True)
@click.option("--size", default="small", show_default=True, type=click.Choice(SIZES))
@click.option("--budget", "budget_s", default=1400.0, show_default=True, help="Seconds.")
@click.option("--core", "cores", multiple=True, type=int, help="Cores to use. Default: all.")
@click.option("--rows", is_flag=True, help="Print each measurement as JSON, too.")
def main(  # noqa: PLR0913, PLR0917  each an option of the command line
    models: tuple[str, ...],
    set_ups: tuple[str, ...],
    repeats: int,
    steps: int,
    size: str,
    budget_s: float,
    cores: tuple[int, ...],
    rows: bool,  # noqa: FBT001  a flag of click's
) -> None:
    """Measure MODELS (none: all) and print medians, with ratios to plain eager."""
    found = []
    for row in measure_rounds(
        models or MODELS,
        set_ups=set_ups or DEFAULT,
        repeats=repeats,
        steps=steps,
        size=size,
        budget_s=budget_s,
        cores=cores or None,
        say=partial(click.echo, err=True),
    ):
        found.append(row)
        if rows:
            click.echo(json.dumps(asdict(row)))
    if found:
        click.echo(rows_table(found))


if __name__ == "__main__":
    main()
