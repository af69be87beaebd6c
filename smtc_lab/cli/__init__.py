"""The command line: ``smtc-lab`` with its commands, one file for each.

A command reads its options, says everything that is wrong with them at once, and calls the
function that a notebook calls; only then are heavy packages imported. Results go to standard
output, progress and errors to standard error. The exit status tells a refusal (nothing was
started) from a failure and from Ctrl-C. It stands above the views, because it prints their
tables (decision 2).
"""

from __future__ import annotations

import io
import os
import sys

import click

from smtc_lab.cli.batch_size import batch_size
from smtc_lab.cli.bench import bench
from smtc_lab.cli.check import check
from smtc_lab.cli.compare import compare
from smtc_lab.cli.environment import environment
from smtc_lab.cli.model.memory import memory
from smtc_lab.cli.plan import plan
from smtc_lab.cli.render import render_job
from smtc_lab.cli.runs import runs
from smtc_lab.cli.say import say
from smtc_lab.cli.scale import scale
from smtc_lab.cli.share import compare_any, export, import_zip, share
from smtc_lab.cli.spot.by_hand import interrupt, resume
from smtc_lab.cli.spot.forecast import forecast
from smtc_lab.cli.spot.prove import prove_resume
from smtc_lab.cli.tuning.tune import tune
from smtc_lab.errors import CatalogError, PythonEnvironmentError, SmtcLabError, SpecError
from smtc_lab.spec.distribution import TAKEN_OUT
from smtc_lab.study.options.option_words import in_options

EXIT_FAILED = 1
"""A run failed, or could not be started, found or read."""

EXIT_REFUSED = 2
"""The input was refused; nothing was started."""

EXIT_INTERRUPTED = 130
"""Ctrl-C; what ran was stopped."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="smtc-lab")
def cli() -> None:
    """Compare training clusters and compilers: what is faster, cheaper, and how sure that is.

    \b
    Exit codes: 0 success, 1 a run failed, 2 the input was refused, 130 interrupted.
    """  # noqa: D301  \b is click's mark for text that is not wrapped


cli.add_command(compare)
cli.add_command(scale)
cli.add_command(tune)
cli.add_command(batch_size)
cli.add_command(memory)
cli.add_command(plan)
cli.add_command(prove_resume)
cli.add_command(forecast)
cli.add_command(render_job)
cli.add_command(runs)
for command in (compare_any, share, export, import_zip, interrupt, resume):
    runs.add_command(command)
cli.add_command(environment)
cli.add_command(check)
cli.add_command(bench)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        cli(standalone_mode=False, prog_name="smtc-lab")
    except (click.exceptions.Abort, KeyboardInterrupt):
        say("Interrupted. What ran was stopped.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        shown = io.StringIO()  # it quotes what was typed
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        _hint_at_own_arguments(error)
        sys.exit(EXIT_REFUSED)
    except SpecError as error:
        for problem in error.problems:
            say(f"Refused: {in_options(problem)}", err=True)
        sys.exit(EXIT_REFUSED)
    except (CatalogError, PythonEnvironmentError) as error:
        say(f"Refused: {error}", err=True)
        sys.exit(EXIT_REFUSED)
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILED)
    except (SmtcLabError, OSError) as error:
        say(f"Error: {error}", err=True)
        sys.exit(EXIT_FAILED)


def _hint_at_own_arguments(error: click.ClickException) -> None:
    """Say whose an option is that a command does not have: another's, or the script's own."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return
    option, path = error.option_name, error.ctx.command_path
    if option == "--reduce-on":
        say(f"{option} {TAKEN_OUT}", err=True)
        return
    others = [
        f"'smtc-lab {name}'"
        for name, each in cli.commands.items()
        if any(option in param.opts for param in each.params)
    ]
    if others:
        say(f"{option} is an option of {' and '.join(others)}, not of '{path}'.", err=True)
    if any(each.name == "arguments" for each in error.ctx.command.params):
        hint = f"{path} … -- train.py {option}"
        say(f"An option of the script itself stands behind --: {hint}", err=True)
