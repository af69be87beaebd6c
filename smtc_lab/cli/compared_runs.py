"""``smtc-lab runs compare``: runs that were never planned together."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from smtc_lab.cli.runs import RUNS_DIR
from smtc_lab.cli.say import say
from smtc_lab.views.figures.drawing import picture_of
from smtc_lab.views.run_comparison.comparison import Along


@click.command("compare")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@RUNS_DIR
@click.option("--metric", help="The metric of the picture. Default: the one that most logged.")
@click.option(
    "--along",
    type=click.Choice(get_args(Along)),
    default="step",
    show_default=True,
    help="What the picture's horizontal axis is.",
)
@click.option(
    "--png", type=click.Path(path_type=Path, dir_okay=False), help="Write a picture there."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def compare_any(
    parents: Path | None,
    names: tuple[str, ...],
    root: Path | None,
    *,
    metric: str | None,
    along: Along,
    png: Path | None,
    as_json: bool,
) -> None:
    """Show what differs in 2 to 50 runs, and what they logged, in a table and a picture."""
    from smtc_lab.views.run_comparison.compare import compare_runs  # noqa: PLC0415  others do without

    compared = compare_runs(*names, root=root or parents)
    say(compared.model_dump_json(indent=1) if as_json else str(compared))
    if png is not None:
        chosen = metric or next(iter(compared.metrics), "")
        try:
            png.write_bytes(picture_of(compared.figure(chosen, along=along)).png)
        except OSError as error:
            raise click.UsageError(
                f"{str(png)!r} cannot be written ({error.strerror}). Choose another place."
            ) from error
