"""What was installed where a run ran: the schema of ``environment.json``."""

from __future__ import annotations

from smtc_lab.metrics.result import Result


class RecordedEnvironment(Result):
    """What was installed where the entry point of a run ran; ``environment.json``."""

    name: str
    """What the job calls it; ``today``: the one that launched."""

    python: str
    """Version of its Python."""

    packages: dict[str, str]
    """Version of each package, by its normalized name."""
