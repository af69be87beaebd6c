"""SageMaker's metric definitions: metrics that are found in what a script prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.spec.base import text_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DEFINITIONS = 40
"""SageMaker's limit for one training job."""

MAX_NAME = 255
"""Characters of the name of a metric, at most: SageMaker's limit."""

MAX_REGEX = 500
"""Characters of a regular expression, at most: SageMaker's limit."""


def check_definitions(definitions: Sequence[dict[str, str]]) -> None:
    """Check metric definitions.

    Args:
        definitions: ``{"Name": …, "Regex": …}`` each.

    Raises:
        SpecError: There are too many, two have one name, or one is none; all reasons at once.
    """
    problems = [problem for each in definitions if (problem := _problem(each))]
    names = [each.get("Name") for each in definitions]
    problems += [
        f"metric_definitions name {name!r:.80} {names.count(name)} times. Rename one of them."
        for name in dict.fromkeys(names)
        if name and names.count(name) > 1
    ]
    if len(definitions) > MAX_DEFINITIONS:
        problems.append(
            f"A job has {len(definitions)} metric_definitions, but may have {MAX_DEFINITIONS}. "
            "Drop some."
        )
    if problems:
        raise SpecError(problems)


def _problem(definition: dict[str, str]) -> str | None:
    """Return what is wrong with a definition, and what to do; None: nothing is."""
    if definition.keys() != {"Name", "Regex"}:
        return (
            f"A metric definition has {', '.join(sorted(definition))[:80] or 'nothing'}, but "
            "has to have Name and Regex, and nothing else: {'Name': 'loss', 'Regex': "
            "'loss=([0-9.]+)'}."
        )
    name, regex = definition["Name"], definition["Regex"]
    what = f"The metric definition {name[:80]!r}"
    if not name.strip() or len(name) > MAX_NAME or text_problem(name):
        return f"{what} has a name that is not 1 to {MAX_NAME} plain characters. Rename it."
    if not regex or len(regex) > MAX_REGEX:
        return f"{what} has a Regex of {len(regex)} characters; 1 to {MAX_REGEX} are allowed."
    try:
        groups = re.compile(regex).groups
    except (re.error, RecursionError, OverflowError) as error:
        return (
            f"{what} has the Regex {regex[:80]!r}, which is none ({error}). Correct it: "
            "'loss=([0-9.]+)'."
        )
    if groups != 1:
        return (
            f"{what} has the Regex {regex[:80]!r} with {groups} groups, but SageMaker takes "
            "exactly one: its text is the value. Put ( ) round the number alone, and write "
            "(?: ) round everything else."
        )
    return None
