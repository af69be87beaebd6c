"""How a data worker has ended, in words and on the wire."""

from __future__ import annotations

import signal
from dataclasses import dataclass

_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedWorker:
    """A data worker that is no more."""

    pid: int
    """Its process id."""

    exit_code: int | None
    """As in ``multiprocessing``: negative is the signal that ended it. None: it did not end in
    time."""

    @property
    def has_crashed(self) -> bool:
        """Whether what it did ended it, rather than the kernel short of memory or a person."""
        code = self.exit_code
        return code is not None and (code >= 0 or -code not in _FROM_OUTSIDE)

    def told(self) -> str:
        """Return what an event says of it, after its name."""
        code = self.exit_code
        if code is None:
            return "did not end in time"  # stuck in the kernel; it ends when it wakes
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "unknown"
        hint = ", often a lack of memory" if -code == signal.SIGKILL else ""
        return f"ended by signal {-code} ({name}{hint})"

    def told_as_torch(self) -> str:
        """Return what torch's dataloader says of such a worker."""
        code, who = self.exit_code, f"DataLoader worker (pid {self.pid})"
        if code is not None and code < 0:
            words = signal.strsignal(-code) or f"Unknown signal {-code}"
            return f"{who} is killed by signal: {words}. It exited unexpectedly"
        return f"{who} exited unexpectedly" + (f" with exit code {code}" if code else "")
