"""What was installed where the entry point of a run ran: ``environment.json`` of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from smtc_lab.metrics.recorded_environment import RecordedEnvironment
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.store.run_folder import RunFolder

_MOST_BYTES = 1 << 20


class Facts(Protocol):
    """What is known of an environment before a run."""

    @property
    def name(self) -> str:
        """What a job calls it."""
        ...

    @property
    def version(self) -> str:
        """Version of its Python."""
        ...

    @property
    def packages(self) -> Mapping[str, str]:
        """Version of each package."""
        ...


def write_environment(folder: RunFolder, facts: Facts) -> None:
    """Write down what is installed in the environment of a run.

    Raises:
        OSError: It cannot be written.
    """
    recorded = RecordedEnvironment(
        name=facts.name, python=facts.version, packages=dict(facts.packages)
    )
    replace_file(folder.environment_file, recorded.model_dump_json(indent=1))


def read_environment(folder: RunFolder) -> RecordedEnvironment | None:
    """Return what was installed; None: it was not written down, or cannot be read."""
    try:
        with folder.environment_file.open("rb") as file:
            return RecordedEnvironment.model_validate_json(file.read(_MOST_BYTES))
    except (OSError, ValueError):
        return None
