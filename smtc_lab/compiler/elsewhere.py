"""What ``auto`` needs of a backend that lies in another Python environment.

Its steps are taken in another process, which has started the job's script there. Where it is
kept, this process goes over to that environment: the script starts anew in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class TriedSteps(Protocol):
    """Training steps in another process, which leave this one as it is."""

    def take(self, batch: Any, *, limit_s: float) -> float:  # noqa: ANN401  whatever the dataset collates to
        """Take one step on a batch; return the seconds that it took.

        Args:
            batch: As the step takes it; on the host.
            limit_s: How long it may take at most, in seconds.

        Raises:
            CompilerError: The step failed, took too long, or ended its process.
        """
        ...

    def close(self) -> None:
        """End the process and what it has started. Twice is once."""
        ...


class Elsewhere(Protocol):
    """The job's script in an environment of its own."""

    def expected_start_s(self) -> float:
        """Return how long the script took here from its start until now, in seconds."""
        ...

    def steps(self, started: Callable[[float, str], None]) -> TriedSteps:
        """Return steps there; nothing is started before the first of them.

        Args:
            started: Called with the seconds that it took from the start of the process to its
                first step, and with what the environment is called.
        """
        ...

    def refuse(self, why: str) -> None:
        """Say why no step can be taken there; a step that is asked for fails from now on."""
        ...

    def move(self, facts: Mapping[str, Any]) -> NoReturn:
        """Become the script there, from its begin; never returns.

        Args:
            facts: What the trial found, as fields of a ``CompilerReport``.

        Raises:
            CompilerError: It cannot be, and nothing has changed here.
        """
        ...
