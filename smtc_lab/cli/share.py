"""``smtc-lab runs share``: a run or a study as one file that anybody can open."""

from __future__ import annotations

import os
from pathlib import Path

import click

from smtc_lab.cli.runs import RUNS_DIR
from smtc_lab.cli.say import say
from smtc_lab.views.named import thing_named


@click.command()
@click.argument("name")
@RUNS_DIR
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write this file. Default: NAME.html, in this folder.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there already.")
@click.pass_obj
def share(
    parents: Path | None, name: str, root: Path | None, target: Path | None, *, force: bool
) -> None:
    """Write a run as one HTML file with its interactive views. NAME may be the begin of a name.

    The file opens in a browser with no JupyterLab and no network, and can send nothing. A
    comparison or another study is shared as a run is. What goes on is shared as it is now.
    """
    root = root or parents
    thing = thing_named(name, root=root)
    target = Path(f"{thing.folder.path.name}.html") if target is None else target
    if os.path.lexists(target) and not force:
        raise click.UsageError(
            f"{str(target)!r} is there already. Name another file with --to, or replace it "
            "with --force."
        )
    # pydantic's models of all kinds, the planner and anywidget take half a second to import
    from smtc_lab.views.share.share import share as share_thing  # noqa: PLC0415

    goes_on = not thing.state.is_terminal
    written = share_thing(thing, target, overwrite=force)
    say(f"Written: {written} ({written.stat().st_size / 1e6:.2f} MB)")
    if goes_on:
        say(f"{thing.folder.path.name} goes on: the file has what there is so far.")
