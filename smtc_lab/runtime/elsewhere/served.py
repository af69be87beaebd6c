"""The other end of steps elsewhere: a process that takes the steps of its parent's batches."""

from __future__ import annotations

import os
import socket
import time
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from smtc_lab.compiler.choosing.kept import torch_version
from smtc_lab.dataservice.protocol.receiver import Receiver, receive_one
from smtc_lab.dataservice.protocol.transport import PlainTransport, send_all
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.errors import CompilerError
from smtc_lab.runtime.elsewhere.started import served_for

if TYPE_CHECKING:
    from smtc_lab.compiler.step import CompiledStep


class ServedStep:
    """The session's step: where the script would take its first one, it takes its parent's.

    From there on nothing of the script runs but the step itself.
    """

    def __init__(self, step: CompiledStep) -> None:
        """Wait for the script's first step.

        Args:
            step: The step as the settings want it.
        """
        self._step = step
        descriptor, _ = served_for()
        self._transport = PlainTransport(socket.socket(fileno=descriptor))
        self._receiver = Receiver(self._transport)

    @property
    def backend(self) -> str:
        """The backend that runs the next step."""
        return self._step.backend

    def __call__(self, batch: Any) -> NoReturn:  # noqa: ANN401  whatever the dataset collates to
        """Take the parent's steps; the script's own batch is left."""
        del batch
        self.serve()

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        self._step.wait()

    def facts(self) -> dict[str, Any]:
        """Return what the step's backend knows."""
        return self._step.facts()

    def leave(self) -> None:
        """Bring model and optimizer back to where they were before."""
        self._step.leave()

    def serve(self) -> NoReturn:
        """Take steps until the parent closes its end; then end this process."""
        try:
            self._say({"torch": torch_version()})
            while (frame := receive_one(self._receiver, self._transport)) is not None:
                self._say(self._take(frame.value))
        except BaseException:  # noqa: BLE001  its last line is what the parent tells
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _take(self, batch: object) -> dict[str, object]:
        began_s = time.perf_counter()
        problem = None
        try:
            self._step(batch)
            self._step.wait()
        except Exception as error:  # noqa: BLE001  the script's own too: eager steps raise them
            known = isinstance(error, CompilerError)
            problem = str(error) if known else f"{type(error).__name__}: {error}"
        return {"problem": problem, "seconds": time.perf_counter() - began_s}

    def _say(self, value: dict[str, object]) -> None:
        send_all(self._transport, pack(Kind.BATCH, 0, value))
