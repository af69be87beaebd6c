"""What a trainer process reports on: whatever compiles in it."""

from __future__ import annotations

from typing import Any, Protocol


class Followed(Protocol):
    """Whatever compiles in this process: the step of a session, or a script's models."""

    @property
    def backend(self) -> str:
        """The backend that runs the next step."""
        ...

    @property
    def is_settled(self) -> bool:
        """Whether the backend stays."""
        ...

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``."""
        ...


class Script(Followed, Protocol):
    """An unmodified script that compiles its models."""

    def stop(self) -> None:
        """Leave everything to a session, which the script uses after all."""
        ...
