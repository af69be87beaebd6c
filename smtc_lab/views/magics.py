"""``%%smtc``: run a notebook's cell as a training job, compiled or on other clusters."""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from smtc_lab.errors import SmtcLabError, SpecError
from smtc_lab.launch.compare import compare
from smtc_lab.launch.compare_compilers import compiler_jobs, set_ups, this_machine
from smtc_lab.launch.parity_launches import ParityLaunches
from smtc_lab.launch.run import launch
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob, parse_hyperparameter
from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.progress import ProgressLine

if TYPE_CHECKING:
    from smtc_lab.launch.compare import ComparisonOutcome
    from smtc_lab.launch.run import Run

_LAST_LINES = 20


class _Parser(argparse.ArgumentParser):
    """Refuses a line without ending the kernel."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%smtc: {message}. See %smtc --help.")


def run_cell(line: str, cell: str | None = None) -> Run | ComparisonOutcome | None:
    """Run the cell as the entry point of a training job, and return its run.

    With several compilers or clusters the runs are compared, and the comparison is returned.
    It is shown where it is the cell's value. An interrupt stops what runs.

    Raises:
        UsageError: The line or the cell is refused, or the run failed; shown in one line.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%smtc: {error}. See %smtc --help.") from None
    options = _parser().parse_args(words)
    if options.help:
        print(_parser().format_help())  # noqa: T201  this is the view
        return None
    if not (cell or "").strip():
        raise UsageError("%%smtc: the cell is empty. Write the training script below the line.")
    try:
        return _run(options, str(cell))
    except SpecError as error:
        raise UsageError("%%smtc: " + "\n".join(error.problems)) from None
    except SmtcLabError as error:
        raise UsageError(f"%%smtc: {error}") from None


def register_magics(ipython: Any) -> None:  # noqa: ANN401  IPython's shell has no light type
    """Make ``%%smtc`` known to a shell."""
    ipython.register_magic_function(run_cell, magic_kind="cell", magic_name="smtc")
    ipython.register_magic_function(_run_line, magic_kind="line", magic_name="smtc")


def _run_line(line: str) -> None:
    """Answer ``%smtc --help``; a job needs a cell."""
    run_cell(line)


def _run(options: argparse.Namespace, cell: str) -> Run | ComparisonOutcome:
    jobs = _jobs(options, _entry_point(cell))
    if len(jobs) == 1:
        run = launch(jobs[0]).wait()
        lines = run.logs().splitlines()[-_LAST_LINES:]
        print("\n".join(lines))  # noqa: T201  what the script printed belongs under its cell
        return run
    checks_parity = options.compiler and not options.no_parity
    with ProgressLine() as progress:
        return compare(
            jobs,
            rounds=options.rounds,
            progress=progress.show,
            parity=ParityLaunches(jobs=tuple(jobs)) if checks_parity else None,
        )


def _jobs(options: argparse.Namespace, entry_point: Path) -> list[TrainingJob]:
    """Return one job for each cluster and each compiler.

    Raises:
        SpecError: Something that was given is not legal.
    """
    clusters = [Cluster.parse(text) for text in options.cluster]
    here = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH")]))
    jobs = [
        TrainingJob(
            entry_point=str(entry_point),
            cluster=cluster,
            hyperparameters=dict(map(parse_hyperparameter, options.hyperparameter)),
            max_steps=options.steps,
            environment={"PYTHONPATH": here},  # a cell imports what its notebook can import
            emulation=Emulation(device_step_time_s=options.device_time) if clusters else None,
        )
        for cluster in clusters or [this_machine()]
    ]
    if options.compiler is None:
        return jobs
    precision = {} if options.precision is None else {"precision": options.precision}
    config = TrainingCompilerConfig(fallback=options.fallback, **precision)
    names = [name for name in options.compiler.split(",") if name]
    return list(compiler_jobs(jobs, set_ups(names, config, ablation=False)))


def _entry_point(cell: str) -> Path:
    """Return the file that holds the cell; the same cell has the same file."""
    folder = runs_root() / "cells"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest = hashlib.sha256(cell.encode()).hexdigest()[:8]
    path = folder / f"cell_{digest}.py"
    # one line above, so that line numbers are those of the cell with its %%smtc line
    path.write_text(f"# a cell of a notebook\n{cell}", encoding="utf-8")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="%%smtc",
        add_help=False,
        allow_abbrev=False,
        description="Run this cell as a training job on this machine.",
    )
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="Show this message.")
    add("--compiler", metavar="NAME,…", help="eager, inductor, xla, auto; several: compare.")
    add(
        "--cluster",
        action="append",
        default=[],
        metavar="[NAME@]GROUP=TYPE:COUNT,…",
        help="A cluster to emulate, once for each; default: this machine as it is.",
    )
    add("--steps", type=int, help="Steps of each launch; default: until the cell ends.")
    add(
        "-p",
        "--hyperparameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="Passed to the cell as --NAME VALUE.",
    )
    add("--rounds", type=int, default=3, help="Launches of each, when several are compared.")
    add("--precision", help="Precision of matrix products: highest, high, medium, bf16.")
    add(
        "--fallback",
        default="error",
        choices=["error", "eager"],
        help="What a step that cannot be compiled does.",
    )
    add(
        "--device-time",
        type=float,
        metavar="SECONDS",
        help="Declared step time of an emulated accelerator.",
    )
    add("--no-parity", action="store_true", help="Do not check that all train the same model.")
    return parser
