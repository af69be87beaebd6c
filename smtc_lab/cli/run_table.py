"""The table of ``smtc-lab runs``: chosen, filtered and sorted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.run_list import run_rows, runs_text

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS = (
    click.option(
        "-n",
        "--last",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="The newest N runs; with --sort the first N.",
    ),
    click.option(
        "--where",
        metavar="CONDITION",
        help='Those of which it holds: "loss < 0.3 and cost_usd < 2". Names are those that '
        "--sort name --json shows, of parameters (lr) and of metrics (loss, loss.min).",
    ),
    click.option("--sort", metavar="NAME", help="Least first; -NAME: greatest first."),
    click.option(
        "--columns", metavar="NAME,…", help="What to show: name,lr,loss,cost_usd, say."
    ),
    click.option(
        "--csv", "csv_file", type=click.Path(path_type=Path), help="Write all of it here, too."
    ),
    click.option("--launches", is_flag=True, help="Launches of comparisons and plans, too."),
)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of ``table_of_runs``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def table_of_runs(root: Path | None, *, as_json: bool, last: int, **chosen: Any) -> str:  # noqa: ANN401  options
    """Return the table, or JSON.

    Raises:
        SpecError: A condition cannot be read, or names what no run has.
        StoreError: The folder may not be read.
    """
    if not any(chosen.values()):
        rows = run_rows(runs_root(root), last=last)
        begin_with = "'smtc-lab compare'"
        text = runs_text(rows, root=runs_root(root), begin_with=begin_with)
        return json.dumps(rows, indent=1) if as_json else text
    from smtc_lab.views.run_table.table import runs  # noqa: PLC0415  a plain list does without

    table, num_hidden = runs(root, launches=True), 0
    if chosen["where"]:
        table = table.where(chosen["where"])
    if not chosen["launches"]:
        num_hidden, table = len(table), table.without_launches
        num_hidden -= len(table)
    if chosen["columns"]:
        table = table.columns(*filter(None, map(str.strip, chosen["columns"].split(","))))
    table = table.sort(chosen["sort"]).first(last) if chosen["sort"] else table.newest(last)
    if chosen["csv_file"]:
        table.to_csv(chosen["csv_file"])
    if as_json:
        return json.dumps(table.rows, indent=1)
    more = (
        f"\n{num_hidden:,} more among what comparisons, plans and proofs launched: --launches."
    )
    return str(table) + (more if chosen["where"] and num_hidden else "")
