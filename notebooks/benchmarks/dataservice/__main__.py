"""Measure some peers at a terminal."""

from __future__ import annotations

import json
from functools import partial

import click

from notebooks.benchmarks.dataservice.payloads import PAYLOADS
from notebooks.benchmarks.dataservice.peers.known import PEERS, check_installed
from notebooks.benchmarks.dataservice.rounds import rounds
from notebooks.benchmarks.dataservice.table import throughput_table


@click.command()
@click.argument("peers", nargs=-1, type=click.Choice(list(PEERS)))
@click.option("--payload", "payloads", multiple=True, type=click.Choice(list(PAYLOADS)))
@click.option("--repeats", default=5, show_default=True)
@click.option("--seconds", default=1.5, show_default=True)
@click.option("--rows", is_flag=True, help="Print each measurement as JSON, too.")
def main(
    peers: tuple[str, ...],
    payloads: tuple[str, ...],
    repeats: int,
    seconds: float,
    rows: bool,  # noqa: FBT001  a flag of click's
) -> None:
    """Measure PEERS (none: all) and print the medians, with ratios to the first one."""
    can_run, skipped = check_installed(peers)
    tell = partial(click.echo, err=True)
    for sentence in skipped:
        tell(sentence)
    kept = []
    for row in rounds(
        "throughput",
        can_run,
        payloads or "b",
        repeats=repeats,
        on_failure=tell,
        seconds=seconds,
    ):
        kept.append(row)
        if rows:
            click.echo(json.dumps(row))
    if kept:
        click.echo(throughput_table(kept))


if __name__ == "__main__":
    main()
