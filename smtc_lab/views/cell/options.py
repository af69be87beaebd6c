"""The options of ``%%smtc`` and ``%smtc run``: those of ``smtc-lab compare``, and some more."""

from __future__ import annotations

import keyword
import shlex
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.spec.distribution import TAKEN_OUT
from smtc_lab.study.options.compared_jobs import COMPARED
from smtc_lab.views.cell.cell_error import CellError

if TYPE_CHECKING:
    from collections.abc import Sequence

CELL = "%%smtc"
"""The cell magic."""

LINE = "%smtc"
"""The line magic."""


@click.command(add_help_option=False)
@COMPARED
@click.option(
    "--devices",
    metavar="N,…",
    help="Scale each cluster over these numbers of devices, such as 1,2,4.",
)
@click.option(
    "--wait",
    is_flag=True,
    help="Wait for the end, and fail when the run failed. An interrupt stops the run.",
)
@click.option(
    "--no-detach",
    is_flag=True,
    help="End with the kernel. Else it goes on when the kernel is restarted or ends.",
)
@click.option(
    "--into",
    metavar="VARIABLE",
    help="Name of a variable for the run. It is the value of the cell as well.",
)
@click.option("-h", "--help", is_flag=True, help="Show this message.")
def _launch(**_: object) -> None:
    """Declare the options of a launch."""


OPTIONS = [param for param in _launch.params if isinstance(param, click.Option)]
"""The options of a launch."""


class LaunchCommand(click.Command):
    """``%%smtc``, or ``%smtc run``, which takes a file.

    Args:
        takes_file: Whether it does.
    """

    def __init__(self, *, takes_file: bool) -> None:
        file = click.Argument(["file"], required=False, metavar="FILE.py")
        super().__init__(
            f"{LINE} run" if takes_file else CELL,
            params=[*[file] * takes_file, *OPTIONS],
            add_help_option=False,
            help="Run a file as a training job on this machine."
            if takes_file
            else "Run this cell as a training job on this machine, in processes of its own.",
            epilog="What stands behind -- is given to the script as it is.",
        )
        self._takes_file = takes_file

    @property
    def prog(self) -> str:
        """What is typed."""
        return str(self.name)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what follows in a line of usage."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENTS]"]

    def help_text(self) -> str:
        """Return what ``--help`` says."""
        return self.get_help(click.Context(self, info_name=self.prog))

    def parsed(self, words: Sequence[str]) -> click.Context:
        """Return the options that a line has, as the parameters of a context.

        ``arguments`` among them is what stands behind ``--``.

        Raises:
            CellError: The words are refused.
        """
        place = words.index("--") if "--" in words else len(words)
        own = list(words[place + 1 :])
        try:
            context = self.make_context(self.prog, list(words[:place]))
        except click.UsageError as error:
            told = error.format_message().rstrip(".")
            if isinstance(error, click.NoSuchOption) and error.option_name == "--reduce-on":
                told = f"--reduce-on {TAKEN_OUT}".rstrip(".")
            raise CellError(f"{self.prog}: {told}. See {LINE} --help.") from None
        if self._takes_file and context.params["file"] is None and own:
            context.params["file"] = own.pop(0)
        context.params["arguments"] = tuple(own)
        return context


def split(line: str, *, prog: str) -> list[str]:
    """Return the words of a line, quotes respected.

    Raises:
        CellError: A quote is not closed.
    """
    try:
        return shlex.split(line)
    except ValueError as error:
        raise CellError(f"{prog}: {error}. See {LINE} --help.") from None


def variable_name(options: dict[str, Any], *, prog: str) -> str | None:
    """Return the name that ``--into`` gives; None: there is none.

    Raises:
        CellError: It is no name of a variable.
    """
    name: str | None = options["into"]
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise CellError(
            f"{prog}: --into {name[:80]!r} is not the name of a variable. Write for example "
            "--into run."
        )
    return name
