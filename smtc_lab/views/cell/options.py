"""The options of ``%%smtc`` and ``%smtc run``: one table for the parser and for completion."""

from __future__ import annotations

import argparse
import keyword
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

from smtc_lab.spec.compiler import Precision
from smtc_lab.spec.distribution import Schedule
from smtc_lab.views.cell.cell_error import CellError

if TYPE_CHECKING:
    from collections.abc import Sequence

Values = Literal["cluster", "compilers", "choices", "free", "none"]
"""What follows an option: a cluster, compilers, one of its choices, anything, or nothing."""

CELL = "%%smtc"
"""The cell magic."""

LINE = "%smtc"
"""The line magic."""

FALLBACKS = ("error", "eager")
"""What a step that cannot be compiled may do."""


@dataclass(frozen=True)
class Option:
    """One option of a launch."""

    flags: tuple[str, ...]
    """How it is written; the last one is its full name."""

    values: Values
    """What follows it."""

    help: str
    """One sentence."""

    settings: dict[str, Any] = field(default_factory=dict)
    """What else argparse is told."""

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be given more than once."""
        return self.settings.get("action") == "append"


OPTIONS = (
    Option(("-h", "--help"), "none", "Show this message.", {"action": "store_true"}),
    Option(
        ("--cluster",),
        "cluster",
        "A cluster to emulate, once for each; several are compared, the first one is the "
        "baseline. Default: this machine as it is.",
        {"action": "append", "default": [], "metavar": "[NAME@]GROUP=TYPE:COUNT,…"},
    ),
    Option(
        ("--compiler",),
        "compilers",
        "eager, inductor, xla, auto; several are compared.",
        {"metavar": "NAME,…"},
    ),
    Option(
        ("--steps",),
        "free",
        "Steps of each launch. Default: until the script ends; of several that are emulated at "
        "most as many as fit into 3 minutes here.",
        {"type": int, "metavar": "N"},
    ),
    Option(
        ("-p", "--hyperparameter"),
        "free",
        "Passed to the script as --NAME VALUE.",
        {"action": "append", "default": [], "metavar": "NAME=VALUE"},
    ),
    Option(
        ("--data",),
        "free",
        "Replicas of the model, each in a process of its own; auto: one on every accelerator.",
        {"metavar": "N|auto"},
    ),
    Option(
        ("--shard",),
        "free",
        "Trainers that share the parameters of one replica.",
        {"type": int, "metavar": "M"},
    ),
    Option(
        ("--pipeline",),
        "free",
        "Trainers that each run a stage of the model; the cell calls session.step.",
        {"type": int, "metavar": "N"},
    ),
    Option(
        ("--microbatches",),
        "free",
        "Parts of a batch that go through a pipeline one after the other.",
        {"type": int, "metavar": "N"},
    ),
    Option(
        ("--schedule",),
        "choices",
        "In which order the stages of a pipeline compute.",
        {"choices": get_args(Schedule)},
    ),
    Option(
        ("--tensor",),
        "free",
        "Trainers of one instance that each have a part of every layer of the model.",
        {"type": int, "metavar": "N"},
    ),
    Option(
        ("--device-time",),
        "free",
        "Seconds of one step on the real accelerator, timed there or from a published "
        "throughput; of several kinds V100=0.03,A100=0.012.",
        {"metavar": "SECONDS"},
    ),
    Option(
        ("--link",),
        "free",
        "Declared network between trainers: inside=10Gbit/20us,between=1Gbit/100us.",
        {"metavar": "inside=BANDWIDTH/LATENCY,between=…"},
    ),
    Option(
        ("--precision",),
        "choices",
        "Precision of matrix products under every compiler. Default: highest.",
        {"choices": get_args(Precision)},
    ),
    Option(
        ("--fallback",),
        "choices",
        "What a step that cannot be compiled does. Default: error.",
        {"choices": FALLBACKS},
    ),
    Option(
        ("--working-dir",),
        "choices",
        "own: each launch works in a folder of its own with the files of this one, "
        "here: in this one. Default: own where several are compared, here for one run.",
        {"choices": ("own", "here")},
    ),
    Option(
        ("--rounds",),
        "free",
        "Launches of each, when several are compared. Default: 3.",
        {"type": int, "default": 3, "metavar": "N"},
    ),
    Option(
        ("--devices",),
        "free",
        "Scale each cluster over these numbers of devices, such as 1,2,4.",
        {"metavar": "N,…"},
    ),
    Option(
        ("--within",),
        "free",
        "End as soon as the speed-up is known within this much of it, 0.05 for a twentieth.",
        {"type": float, "metavar": "FRACTION"},
    ),
    Option(
        ("--no-parity",),
        "none",
        "Do not check that all compilers train the same model.",
        {"action": "store_true"},
    ),
    Option(
        ("--wait",),
        "none",
        "Wait for the end, and fail when the run failed. An interrupt stops the run.",
        {"action": "store_true"},
    ),
    Option(
        ("--no-detach",),
        "none",
        "End with the kernel. Else it goes on when the kernel is restarted or ends.",
        {"action": "store_true"},
    ),
    Option(
        ("--into",),
        "free",
        "Name of a variable for the run. It is the value of the cell as well.",
        {"metavar": "VARIABLE"},
    ),
)


class _Parser(argparse.ArgumentParser):
    """Refuses a line without ending the kernel."""

    def error(self, message: str) -> NoReturn:
        raise CellError(f"{self.prog}: {message}. See {LINE} --help.")


def split(line: str, *, prog: str) -> list[str]:
    """Return the words of a line, quotes respected.

    Raises:
        CellError: A quote is not closed.
    """
    try:
        return shlex.split(line)
    except ValueError as error:
        raise CellError(f"{prog}: {error}. See {LINE} --help.") from None


def parsed(
    parser: argparse.ArgumentParser, words: Sequence[str], *, takes_file: bool
) -> argparse.Namespace:
    """Return the options of a launch, with ``arguments``: what stands behind ``--``.

    Raises:
        CellError: The words are refused.
    """
    place = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:place])
    own = list(words[place + 1 :])
    if takes_file and options.file is None and own:
        options.file = own.pop(0)
    options.arguments = tuple(own)
    return options


def launch_parser(*, takes_file: bool) -> argparse.ArgumentParser:
    """Return the parser of ``%%smtc``, or of ``%smtc run``, which takes a file."""
    parser = plain_parser(
        f"{LINE} run" if takes_file else CELL,
        "Run a file as a training job on this machine."
        if takes_file
        else "Run this cell as a training job on this machine, in processes of its own.",
    )
    parser.usage = f"%(prog)s [options]{' FILE.py' * takes_file} [-- ARGUMENTS]"
    parser.epilog = "What stands behind -- is given to the script as it is."
    if takes_file:
        parser.add_argument("file", nargs="?", metavar="FILE.py", help="The training script.")
    for option in OPTIONS:
        parser.add_argument(*option.flags, help=option.help, **option.settings)
    parser.add_argument("--reduce-on", help=argparse.SUPPRESS)  # it was taken out, as is said
    return parser


def plain_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """Return a parser without options that refuses with a ``CellError``."""
    return _Parser(prog=prog, add_help=False, allow_abbrev=False, description=description)


def variable_name(options: argparse.Namespace, *, prog: str) -> str | None:
    """Return the name that ``--into`` gives; None: there is none.

    Raises:
        CellError: It is no name of a variable.
    """
    name: str | None = options.into
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise CellError(
            f"{prog}: --into {name[:80]!r} is not the name of a variable. Write for example "
            "--into run."
        )
    return name
