"""Writes checkpoints beside the training, which waits for one copy in memory only."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.metrics.records.saves import save_words
from smtc_lab.runtime.checkpoint import forget_checkpoints, save_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path


class CheckpointWriter:
    """Writes one checkpoint at a time, in a thread, out of buffers that it keeps."""

    def __init__(
        self,
        folder: Path,
        *,
        keep_last: int,
        best: Callable[[], Collection[int]] = tuple,
        say: Callable[[str, str], None],
        flush: Callable[[], None] = lambda: None,
    ) -> None:
        """Write nothing yet.

        Args:
            folder: Where the checkpoints of this trainer lie.
            keep_last: How many are kept, at least 1.
            best: Returns the steps of others that stay.
            say: Tells people; called with a kind of event and a sentence.
            flush: Returns when what was recorded outlives the process. Called when one is
                written, before it is marked as whole: what belongs to its steps has to stay,
                too; and when people are told of it.
        """
        self._folder = folder
        self._keep_last, self._best = keep_last, best
        self._say = say
        self._flush = flush
        self._buffers: list[torch.Tensor] = []
        self._thread: threading.Thread | None = None
        self.written_s = 0.0
        """How long the last one took to be written, in seconds."""

    @property
    def is_writing(self) -> bool:
        """Whether the last one is not written yet."""
        return self._thread is not None and self._thread.is_alive()

    def save(self, state: dict[str, Any], *, step: int, began_s: float | None = None) -> float:
        """Begin to write a checkpoint; return when it is copied, which is told when it counts.

        It waits for the one before, whose buffers it takes.

        Args:
            state: Plain values; tensors may change as soon as this returns.
            step: Steps that have ended.
            began_s: Since when training waits, by ``time.perf_counter``; None: since now.

        Returns:
            For how long training waited, in seconds.
        """
        began_s = time.perf_counter() if began_s is None else began_s
        self.wait()
        copied = _Copies(self._buffers).of(state)
        if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch's own
            torch.cuda.synchronize()
        stall_s = time.perf_counter() - began_s
        self._thread = threading.Thread(
            target=self._write, args=(copied, step, stall_s), name="checkpoint", daemon=True
        )
        self._thread.start()
        return stall_s

    def wait(self) -> None:
        """Return when the last checkpoint is written, or could not be."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _write(self, state: dict[str, Any], step: int, stall_s: float) -> None:
        began_s = time.perf_counter()
        try:
            save_checkpoint(self._folder, state, step=step, before_it_counts=self._flush)
        except OSError as error:
            self._say(
                "warning",
                f"The checkpoint of step {step} was not written ({error.strerror or error}). "
                "Training goes on; an interruption goes back to the one before.",
            )
        else:
            self._say("checkpoint", save_words(step, stall_s))
            self._flush()
            self._forget()
        self.written_s = time.perf_counter() - began_s

    def _forget(self) -> None:
        try:
            forget_checkpoints(self._folder, keep_last=self._keep_last, best=self._best())
        except OSError as error:
            self._say(
                "warning",
                f"Earlier checkpoints were not removed ({error}). Remove them by hand, or make "
                "their folder writable.",
            )


class _Copies:
    """Copies of the tensors of a state, in buffers of the host."""

    def __init__(self, buffers: list[torch.Tensor]) -> None:
        self._buffers = buffers
        self._count = 0
        self._known: dict[tuple[object, ...], torch.Tensor] = {}

    def of(self, value: Any) -> Any:  # noqa: ANN401  any plain value
        """Return a value with its tensors copied; those of the same memory once."""
        if isinstance(value, torch.Tensor):
            return self._copy(value.detach())
        if isinstance(value, dict):
            return {key: self.of(one) for key, one in value.items()}
        if type(value) in {list, tuple}:
            return type(value)(map(self.of, value))
        return value

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
        if tensor.numel() and key in self._known:
            return self._known[key]
        buffer = self._buffer(tensor)
        buffer.copy_(tensor, non_blocking=True)
        self._known[key] = buffer
        return buffer

    def _buffer(self, tensor: torch.Tensor) -> torch.Tensor:
        number, self._count = self._count, self._count + 1
        kept = self._buffers[number] if number < len(self._buffers) else None
        if kept is not None and kept.shape == tensor.shape and kept.dtype == tensor.dtype:
            return kept
        made = torch.empty(
            tensor.shape,
            dtype=tensor.dtype,
            device="cpu",
            pin_memory=tensor.device.type == "cuda",
        )
        self._buffers[number : number + 1] = [made]
        return made
