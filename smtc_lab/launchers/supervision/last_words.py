"""The last thing that an instance said, for the reason of a run's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.machine.beneath import open_beneath, read_beneath
from smtc_lab.machine.stored_text import LONGEST_TEXT, stored_json
from smtc_lab.store.said import last_lines, lines_sentence, readable

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


_REQUIRED = "the following arguments are required:"  # as argparse says it
_ADVICE = (
    "The script needs arguments: set each as a hyperparameter, with --hyperparameter "
    "NAME=VALUE or in the form."
)


def last_words(folder: RunFolder, host: str, rank: int | None) -> str:
    """Return what an entry point said of its failure, and the end of its log.

    Args:
        folder: The run's folder.
        host: Its instance.
        rank: Which of several trainers it is; None: the instance has no other process.
    """
    try:
        said = read_beneath(folder.path, folder.failure_file(host)).decode(errors="replace")
    except OSError:
        said = ""
    return with_last_lines(said, folder.log_file(host, rank), _environment(folder))


def with_last_lines(said: str, log: Path, environment: dict[str, str] | None = None) -> str:
    """Return why an entry point failed, with the last lines of its log.

    Args:
        said: What it said of its failure itself; empty: nothing. Where it has the last line,
            as an error has that ends a traceback, the log adds nothing.
        log: What it printed.
        environment: Variables of it; those named like a secret are hidden wherever they stand.
    """
    said = readable(said).strip()[:LONGEST_TEXT]
    lines = _last_lines(log, environment or {})
    if lines and lines[-1].strip() in said:
        lines = []
    told = lines_sentence(lines, "of its log")
    advice = _ADVICE if any(_REQUIRED in line for line in (said, *lines)) else ""
    return "\n".join(filter(None, (said and f"{said}.", told, advice)))


def last_line(log: Path) -> str:
    """Return the last line of a log that says something; empty: none does."""
    return "".join(line.strip() for line in _last_lines(log, {})[-1:])


def _last_lines(log: Path, environment: dict[str, str]) -> list[str]:
    try:
        # of a run the log lies in a folder of its folder
        with open_beneath(log.parents[1], log) as file:
            return last_lines(file, environment)
    except OSError:
        return []


def _environment(folder: RunFolder) -> dict[str, str]:
    """Return the variables that the job gives its entry point, as far as they can be read."""
    try:
        values = stored_json(folder.path, folder.job_file)["environment"]
        return {str(name): str(value) for name, value in values.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
