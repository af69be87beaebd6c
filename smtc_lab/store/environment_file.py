"""What was installed where the entry point of a run ran: ``environment.json`` of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.machine.stored_text import stored_json
from smtc_lab.metrics.records.recorded_environment import RecordedEnvironment
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from smtc_lab.machine.environments.probe import EnvironmentFacts
    from smtc_lab.store.run_folder import RunFolder


def write_environment(folder: RunFolder, facts: EnvironmentFacts) -> None:
    """Write down what is installed in the environment of a run.

    Raises:
        OSError: It cannot be written.
    """
    recorded = RecordedEnvironment(
        name=facts.name, python=facts.version, packages=facts.packages
    )
    replace_file(folder.environment_file, recorded.model_dump_json(indent=1))


def read_environment(folder: RunFolder) -> RecordedEnvironment | None:
    """Return what was installed; None: it was not written down, or cannot be read."""
    try:
        values = stored_json(folder.path, folder.environment_file)
        return RecordedEnvironment.model_validate(values)
    except (OSError, ValueError, StoreError):
        return None
