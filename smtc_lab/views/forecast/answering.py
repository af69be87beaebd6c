"""Answers the newest of many questions, in a thread that is there while there are some."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Answering:
    """Answers in a thread, one question at a time, the newest one next.

    So answers come in the order of questions, and a slow one holds up nothing but the next.

    Args:
        answer: Answers what is asked when it is called.
        name: Name of the thread.
        pause_s: Seconds without a further question before one is answered.
    """

    def __init__(
        self, answer: Callable[[], None], *, name: str, pause_s: float | None = None
    ) -> None:
        self._answer = answer
        self._name = name
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._again = threading.Event()
        self._is_asked = self._is_answering = self._is_closed = False

    def ask(self) -> None:
        """Have the question that holds now answered, soon."""
        with self._lock:
            if self._is_closed:
                return
            self._is_asked = True
            if self._is_answering:
                self._again.set()
                return
            self._is_answering = True
        threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def close(self) -> None:
        """Answer nothing more but what is being answered."""
        with self._lock:
            self._is_closed = True
            self._is_asked = False

    def _run(self) -> None:
        while True:
            while self._pause_s is not None and self._again.wait(self._pause_s):
                self._again.clear()
            with self._lock:
                self._is_answering = self._is_asked
                self._is_asked = False
                if not self._is_answering:
                    return
            self._answer()
