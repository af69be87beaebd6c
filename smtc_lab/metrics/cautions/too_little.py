"""Launches and steps that are too few, or not alike: said once of all set-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.limits import LEAST_LAUNCHES, LEAST_STEPS, MORE_STEPS
from smtc_lab.metrics.finding import caution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smtc_lab.metrics.finding import Finding


def few_launches(launches: Mapping[str, int]) -> Iterator[Finding]:
    """Yield which set-ups were launched too seldom, those of one number together.

    Args:
        launches: Of each set-up, by its name.
    """
    for count, times in ((1, "once"), (2, "twice")):
        if names := [name for name, found in launches.items() if found == count]:
            yield caution(
                "few_launches",
                f"{in_words(names)} {'was' if len(names) == 1 else 'were'} launched {times}: "
                f"fewer than {LEAST_LAUNCHES} launches cannot show how much launches differ.",
                "Launch each more often (rounds, --rounds).",
            )


def few_steps(steps: Mapping[str, int]) -> Iterator[Finding]:
    """Yield which set-ups have too few measured steps, those of one number together.

    Args:
        steps: Measured steps of all launches of each set-up, by its name.
    """
    for count in sorted({found for found in steps.values() if found < LEAST_STEPS}):
        names = [name for name, found in steps.items() if found == count]
        is_one = len(names) == 1
        has, each = ("has", "") if is_one else ("have", " each")
        its = "its interval is" if is_one else "their intervals are"
        yield caution(
            "few_steps",
            f"{in_words(names)} {has} {count} measured steps{each}, fewer than "
            f"{LEAST_STEPS}, so {its} rough.",
            f"{MORE_STEPS}.",
        )


def unsettled(names: Sequence[str]) -> Iterator[Finding]:
    """Yield whose steps were still changing.

    Args:
        names: Of those set-ups; may be none.
    """
    if names:
        is_not = "its mean is not that" if len(names) == 1 else "their means are not those"
        yield caution(
            "unsettled",
            f"The steps of {in_words(names)} were still changing when half of a launch was "
            f"over, so {is_not} of a longer job.",
            f"{MORE_STEPS}.",
        )


def in_words(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
