"""``%%smtc`` runs a cell as a training job; ``%smtc`` runs files, and handles runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError, SpecError
from smtc_lab.study.options.option_words import in_options
from smtc_lab.views.cell import commands
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.completion import add_completion
from smtc_lab.views.cell.entry_point import saved_cell
from smtc_lab.views.cell.jobs import described_jobs
from smtc_lab.views.cell.launching import start
from smtc_lab.views.cell.options import CELL, LINE, LaunchCommand, split, variable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Variables = dict[str, object]


def register_magics(ipython: Any) -> None:  # noqa: ANN401  IPython's shell has no light type
    """Make ``%%smtc`` and ``%smtc`` known to a shell, with their completion."""

    def of_cell(line: str, cell: str) -> object:
        return run_cell(line, cell, ipython.user_ns)

    def of_line(line: str) -> object:
        return run_line(line, ipython.user_ns)

    of_cell.__doc__ = LaunchCommand(takes_file=False).help_text()  # %%smtc? shows it
    of_line.__doc__ = _line_help()
    ipython.register_magic_function(of_cell, magic_kind="cell", magic_name="smtc")
    ipython.register_magic_function(of_line, magic_kind="line", magic_name="smtc")
    add_completion(ipython, tuple(commands.COMMANDS))


def run_cell(line: str, cell: str, variables: Variables) -> object:
    """Run the cell as the entry point of a training job, and return its run at once.

    With several compilers or clusters the launches are compared, and the comparison is
    returned. ``--wait`` waits for the end; then an interrupt stops what runs.

    Args:
        line: What stands behind ``%%smtc``.
        cell: The training script.
        variables: Where ``--into`` puts the run.

    Raises:
        CellError: The line or the cell is refused, or the run failed; shown in one line.
    """
    return _told(CELL, lambda: _launched(split(line, prog=CELL), cell, variables))


def run_line(line: str, variables: Variables) -> object:
    """Do what ``%smtc COMMAND …`` says, and return what is to be shown.

    Args:
        line: What stands behind ``%smtc``.
        variables: Where ``--into`` puts a run.

    Raises:
        CellError: The line is refused, or what it asks for failed; shown in one line.
    """
    command, *words = split(line, prog=LINE) or ["--help"]
    if command in {"-h", "--help"}:
        print(_line_help())  # noqa: T201  this is the view
        return None
    if command not in commands.COMMANDS:
        raise commands.unknown(command)
    does: dict[str, Callable[[], object]] = {
        "run": lambda: _launched(words, None, variables),
        "runs": lambda: commands.listed(words),
        "show": lambda: commands.shown(words),
        "stop": lambda: commands.stopped(words),
        "delete": lambda: commands.deleted(words),
    }
    return _told(f"{LINE} {command}", does[command])


def _told(prog: str, do: Callable[[], object]) -> object:
    """Return what a function returns; whatever is wrong becomes one line."""
    try:
        return do()
    except SpecError as error:
        told = "\n".join(map(in_options, error.problems))
        raise CellError(f"{prog}: {told}") from None
    except (SmtcLabError, OSError) as error:
        raise CellError(f"{prog}: {error}") from None


def _launched(words: Sequence[str], cell: str | None, variables: Variables) -> object:
    """Launch a cell, or the file that is named where there is no cell."""
    command = LaunchCommand(takes_file=cell is None)
    context = command.parsed(words)
    options = context.params
    if options["help"]:
        print(command.help_text())  # noqa: T201  this is the view
        return None
    name = variable_name(options, prog=command.prog)
    entry_point = _file(options) if cell is None else saved_cell(cell)

    def keep(run: object) -> None:
        if name is not None:
            variables[name] = run

    jobs, catalog = described_jobs(context, entry_point)
    return start(jobs, catalog, options, keep=keep)


def _file(options: dict[str, Any]) -> Path:
    if options["file"] is None:
        raise SpecError("no file is named. Write the path of a training script behind 'run'.")
    return Path(options["file"]).expanduser()


def _line_help() -> str:
    width = max(map(len, commands.COMMANDS))
    told = [f"  {name:<{width}}  {text}" for name, text in commands.COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {LINE} COMMAND …",
            "",
            *told,
            "",
            f"{CELL} runs a cell:",
            "",
            LaunchCommand(takes_file=False).help_text(),
        ]
    )
