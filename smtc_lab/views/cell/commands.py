"""The commands of ``%smtc`` about runs that there are: list, show, stop, delete."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from IPython.core.error import StdinNotImplementedError

from smtc_lab.launchers.run import Run
from smtc_lab.neutral_text import neutral
from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.options import CELL, LINE
from smtc_lab.views.cell.plain_parser import PlainParser
from smtc_lab.views.deleting import delete_for_good, nobody_to_ask, question
from smtc_lab.views.named import thing_named
from smtc_lab.views.run_list import RunList, run_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.views.kinds import Thing

COMMANDS = {
    "run": "Run FILE.py as a training job; takes the options of %%smtc.",
    "runs": "List the newest runs.",
    "show": "Show the run, or the comparison, of a name.",
    "stop": "Stop the run, or the comparison, of a name.",
    "delete": "Delete runs that have ended, and comparisons with their launches, for good.",
}
"""What ``%smtc`` can do, each in a sentence."""


def listed(words: Sequence[str]) -> RunList | None:
    """Return the newest runs, newest first; None where help was asked for.

    Raises:
        CellError: The words are refused.
    """
    parser = PlainParser(f"{LINE} runs", COMMANDS["runs"])
    parser.add_argument(
        "-n", "--last", type=int, default=20, metavar="N", help="The newest N; default: 20."
    )
    options = parser.parse_args(words)
    if options.help:
        print(parser.format_help())  # noqa: T201  this is the view
        return None
    if options.last < 1:
        raise CellError(f"{LINE} runs: -n {options.last} would list nothing. Give at least 1.")
    rows = reversed(run_rows(last=options.last))
    return RunList(rows=tuple(rows), root=runs_root(), begin_with=CELL)


def shown(words: Sequence[str]) -> Thing:
    """Return the run, or the comparison, of a name; it shows itself.

    Raises:
        CellError: No name is given.
        StoreError: There is no such run.
    """
    return _named("show", words)


def stopped(words: Sequence[str]) -> None:
    """Stop the run, or the comparison, of a name, and say how it ended.

    Raises:
        CellError: No name is given.
        StoreError: There is no such run.
        LauncherError: It does not end.
    """
    it = _named("stop", words).stop()
    name = it.job_name if isinstance(it, Run) else it.name
    words = f"{name}: {it.status}. {it.state.reason}".rstrip()
    print(neutral(words))  # noqa: T201  this is the view


def deleted(words: Sequence[str]) -> None:
    """Delete runs and comparisons for good, once that was confirmed, and say what was done.

    Raises:
        CellError: The words are refused, or nobody can be asked.
        StoreError: There is no such run.
        LauncherError: It goes on, or is a launch of a comparison.
    """
    parser = PlainParser(f"{LINE} delete", COMMANDS["delete"])
    parser.add_argument("-y", "--yes", action="store_true", help="Do not ask.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="The whole name.")
    options = parser.parse_args(words)
    if options.help:
        print(parser.format_help())  # noqa: T201  this is the view
        return
    if not options.names:
        raise CellError(f"{LINE} delete: no name is given. See {LINE} runs.")
    if not options.yes and not _is_confirmed(options.names):
        return
    for name in options.names:
        print(neutral(delete_for_good(name)))  # noqa: T201  this is the view


def _is_confirmed(names: Sequence[str]) -> bool:
    try:
        answer = input(f"{question(names)} [y/N]: ")
    except (EOFError, OSError, StdinNotImplementedError):
        raise CellError(f"{LINE} delete: {nobody_to_ask(names)}") from None
    return answer.strip().lower() in {"y", "yes"}


def unknown(word: str) -> CellError:
    """Return the error that says what could have been meant."""
    alike = difflib.get_close_matches(word, COMMANDS)
    hint = f"Did you mean {LINE} {alike[0]}?" if alike else f"See {LINE} --help."
    return CellError(f"{LINE}: there is no command {word[:80]!r}. {hint}")


def _named(command: str, words: Sequence[str]) -> Thing:
    if len(words) != 1 or words[0].startswith("-"):
        raise CellError(
            f"{LINE} {command} takes the name of one run, or its begin, but got "
            f"{' '.join(words)[:80]!r}. See {LINE} runs."
        )
    return thing_named(words[0])
