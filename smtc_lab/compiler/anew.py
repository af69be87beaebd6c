"""What a backend of another environment takes beyond its steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Anew:
    """A backend for which the script starts anew, in another environment."""

    start_s: float
    """Seconds from the script's start to its first step."""

    place: str = "another environment"
    """What the environment is called."""

    def told(self, steps: int) -> str:
        """Return what is said where it is kept after so many steps of the job."""
        return (
            f"; the script starts anew in {self.place}, and the {steps} steps so far are taken "
            "again"
        )
