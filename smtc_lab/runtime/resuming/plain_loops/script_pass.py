"""One pass of a script over a dataloader, watched from outside."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol

    class _FollowsPasses(Protocol):
        def will_ask(self, asking: ScriptPass) -> None: ...
        def drawn_by_hand(self) -> None: ...


_LOOPS = {dis.opmap[name] for name in ("FOR_ITER", "SEND", "YIELD_VALUE")}


class ScriptPass(Iterator[Any]):
    """The batches of a pass; ends when the script drops it."""

    def __init__(
        self, batches: Iterator[Any], follower: _FollowsPasses, *, is_counted: bool
    ) -> None:
        """Take nothing yet.

        Args:
            batches: What it gives.
            follower: Is told of each batch that the script asks for.
            is_counted: Whether its steps are; else only who asks is looked at.
        """
        self._batches, self._follower, self._is_counted = batches, follower, is_counted
        self.num_batches = 0
        """Batches that the script has got."""

        self.has_ended = False
        """Whether it has no further one."""

    def __next__(self) -> Any:  # noqa: ANN401  a batch
        """Return the next batch."""
        frame = sys._getframe(1)  # noqa: SLF001  the only way to the caller
        if frame.f_code.co_code[frame.f_lasti] not in _LOOPS:
            self._follower.drawn_by_hand()
        if self._is_counted:
            self._follower.will_ask(self)
        try:
            batch = next(self._batches)
        except StopIteration:
            self.has_ended = True
            raise
        self.num_batches += 1
        return batch

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]  # torch's iterators have it
