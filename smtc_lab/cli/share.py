"""``smtc-lab runs share``, ``export``, ``import`` and ``compare``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smtc_lab.cli.runs import RUNS_DIR
from smtc_lab.cli.say import say
from smtc_lab.views.named import thing_named
from smtc_lab.views.text.format import plain

if TYPE_CHECKING:
    from smtc_lab.views.run_comparison.comparison import Along


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


@click.command("export")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@RUNS_DIR
@click.option(
    "--to",
    "target",
    required=True,
    metavar="TARGET",
    help="mlflow:URI, FILE.csv, FILE.parquet or FILE.zip.",
)
@click.option("--where", metavar="CONDITION", help="Those of which it holds, as for runs.")
@click.option("--all", "takes_all", is_flag=True, help="All runs.")
@click.pass_obj
def export(  # noqa: PLR0913  its options
    parents: Path | None,
    names: tuple[str, ...],
    root: Path | None,
    target: str,
    where: str | None,
    *,
    takes_all: bool,
) -> None:
    """Write runs to MLflow, or as a table or a zip. NAME may be a study: its launches.

    To MLflow go parameters, tags, metrics with steps and times, and the state; once more, only
    what is new. A zip holds the folders of runs that have ended, for 'smtc-lab runs import'.
    """
    if sum(map(bool, (names, where, takes_all))) != 1:
        raise click.UsageError("Give names of runs, or --where CONDITION, or --all.")
    from smtc_lab.views.export.export import export_runs  # noqa: PLC0415  a help does without
    from smtc_lab.views.run_table.table import runs  # noqa: PLC0415  as above

    root = root or parents
    chosen = runs(root, launches=True).where(where) if where else names or None
    say(str(export_runs(target, chosen, root=root)))


@click.command("import")
@click.argument("path", metavar="FILE.zip", type=click.Path(path_type=Path, dir_okay=False))
@RUNS_DIR
@click.option("--name", help="What to call its run, if it holds one. Default: as it is called.")
@click.pass_obj
def import_zip(parents: Path | None, path: Path, root: Path | None, name: str | None) -> None:
    """Take in the runs of a zip that export wrote. Nothing of it is executed."""
    from smtc_lab.views.export.run_zip import import_runs  # noqa: PLC0415  a help does without

    for run in import_runs(path, name=name, root=root or parents):
        say(f"{run.job_name}: {run.status}, in {run.folder.path}")


@click.command("compare")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@RUNS_DIR
@click.option("--metric", help="The metric of the picture. Default: the one that most logged.")
@click.option(
    "--along",
    type=click.Choice(["step", "seconds", "samples", "dollars"]),
    help="Horizontal axis of the picture. Default: step.",
)
@click.option(
    "--png", type=click.Path(path_type=Path, dir_okay=False), help="Write a picture there."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def compare_any(  # noqa: PLR0913  an option each
    parents: Path | None,
    names: tuple[str, ...],
    root: Path | None,
    *,
    metric: str | None,
    along: Along | None,
    png: Path | None,
    as_json: bool,
) -> None:
    """Show what differs in 2 to 50 runs, and what they logged, in a table and a picture."""
    # as above
    from smtc_lab.views.figures.drawing import picture_of  # noqa: PLC0415
    from smtc_lab.views.run_comparison.compare import compare_runs  # noqa: PLC0415

    if png is None and (metric is not None or along is not None):
        raise click.UsageError(
            "--metric and --along say what the picture shows, but none is asked for. Add "
            "--png FILE."
        )
    compared = compare_runs(*names, root=root or parents)
    if metric is not None and metric not in compared.metrics:
        known = ", ".join(map(plain, compared.metrics[:20])) or "none"
        raise click.UsageError(
            f"None of these runs logged the metric {plain(metric)!r}. They have: {known}."
        )
    say(compared.model_dump_json(indent=1) if as_json else str(compared))
    if png is None:
        return
    figure = compared.figure(metric or next(iter(compared.metrics), ""), along=along or "step")
    try:
        png.write_bytes(picture_of(figure).png)
    except OSError as error:
        raise click.UsageError(
            f"{str(png)!r} cannot be written ({error.strerror}). Choose another place."
        ) from error
