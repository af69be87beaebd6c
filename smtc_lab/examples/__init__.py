"""Entry points and workloads that the notebooks and the demo run."""

from __future__ import annotations

from pathlib import Path

from smtc_lab.errors import SpecError

ENTRY_POINTS = ("digits", "plain_loop")
"""Examples by name. ``plain_loop`` does not import smtc_lab."""


def example(name: str) -> str:
    """Return the path of an example entry point, for ``TrainingJob(entry_point=...)``.

    Args:
        name: One of ``ENTRY_POINTS``.

    Raises:
        SpecError: There is no such example.
    """
    if name not in ENTRY_POINTS:
        raise SpecError(
            f"There is no example {name[:80]!r}. Choose among {', '.join(ENTRY_POINTS)}."
        )
    return str(Path(__file__).parent / f"{name}.py")
