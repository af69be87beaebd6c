"""``smtc-lab runs interrupt`` and ``smtc-lab runs resume``: attempts of a run, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from smtc_lab.cli.runs import RUNS_DIR
from smtc_lab.cli.say import say
from smtc_lab.cli.tuning.usd import usd_of
from smtc_lab.launchers.run import Run
from smtc_lab.views.kinds import is_study, open_study

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("name")
@RUNS_DIR
@click.pass_obj
def interrupt(parents: Path | None, name: str, root: Path | None) -> None:
    """Take the instances of a run away, as a spot market does, and let it go on.

    Its processes get TERM, and KILL after the run's grace; another attempt follows.
    """
    run = Run.open(name, root=root or parents).interrupt()
    say(f"{run.job_name}: its instances are taken away. See 'smtc-lab runs show {name}'.")


@click.command()
@click.argument("name")
@RUNS_DIR
@click.option("--trials", type=int, metavar="N", help="Of a search: trials in all from now on.")
@click.option(
    "--budget", metavar="USD", help="Of a search: most that all trials may cost from now on."
)
@click.pass_obj
def resume(
    parents: Path | None, name: str, root: Path | None, trials: int | None, budget: str | None
) -> None:
    """Go on with a run that failed or was stopped, in another attempt, and wait for its end.

    What the script kept by session.checkpoint, or loads by itself, is not trained again. A
    search of 'smtc-lab tune' goes on with the suggestions that it would have made; one that has
    ended goes on with more trials or more money.
    """
    if is_study(name, root=root or parents):
        more = {"max_jobs": trials, "budget_usd": budget and usd_of(budget)}
        given = {field: value for field, value in more.items() if value is not None}
        study = open_study(name, root=root or parents).resume(detach=False, **given)
        study.await_end()
        say(f"{study.name}: {study.status}.")
        return
    run = Run.open(name, root=root or parents).resume(detach=False).wait()
    say(f"{run.job_name}: {run.status}.")
