"""The kinds of study: a table entry each, and the function that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from smtc_lab.errors import StoreError
from smtc_lab.machine.installed import brought, entries, loaded

if TYPE_CHECKING:
    from smtc_lab.study.folder import StudyRequest
    from smtc_lab.study.watched_run import LaunchWatch

KINDS = {
    "batch-size": "smtc_lab.study.batch.size:carry_out_request",
    "comparison": "smtc_lab.study.comparison.comparison_run:carry_out_request",
    "scaling": "smtc_lab.study.scaling.scale:carry_out_request",
    "tuning": "smtc_lab.study.tuning.tuner:carry_out_request",
}
"""Function of each kind that carries it out, as ``module:function``."""

ENTRY_POINTS = "smtc_lab.studies"
"""Group of entry points by which an installed package brings kinds of its own."""


class CarryOut(Protocol):
    """Carries out a study, in a process of its own."""

    def __call__(self, request: StudyRequest, watch: LaunchWatch) -> str:
        """Make all launches through ``run_watched`` and return the result as JSON text.

        Args:
            request: What was asked.
            watch: Is told of every launch; it may stop them.

        Raises:
            SmtcLabError: The study failed; the message is its reason.
        """
        ...


def carry_out_of(kind: str) -> CarryOut:
    """Return what carries out studies of a kind.

    Raises:
        StoreError: There is no such kind.
    """
    if kind in KINDS:
        return cast("CarryOut", loaded(KINDS[kind]))
    found = brought(ENTRY_POINTS, kind)
    if found is not None:
        return cast("CarryOut", found)
    known = ", ".join(sorted({*KINDS, *entries(ENTRY_POINTS).names}))
    raise StoreError(
        f"There is no kind of study {kind[:80]!r}. There are: {known}. Install the package "
        f"that brings it as an entry point of {ENTRY_POINTS!r}."
    )
