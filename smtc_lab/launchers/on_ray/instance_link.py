"""The link to one instance of a run on Ray: follows it, and fetches what it leaves behind."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.instance.opt_ml import CHECKPOINTS
from smtc_lab.launchers.on_ray.mirror import (
    PIECE_BYTES,
    CheckpointMirror,
    InstanceMirror,
    instance_end,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.supervision.instances import InstanceEnd
    from smtc_lab.store.run_folder import RunFolder

OUTPUT_LIMIT_BYTES = 2**30
"""Most bytes of model, checkpoints and output that are brought from an instance. What is more
stays on its node, and the run's log says where. Checkpoints of a spot job are brought all."""

_POLL_S = 1.0
_LOOK_S = 0.2
_CALL_LIMIT_S = 15.0
_PATIENCE_S = 30.0
"""How long an actor may be unreachable before it counts as lost."""

_COPY_S = 0.2
"""For how long checkpoints are brought between two looks for lines and records."""


class _NotHeardError(Exception):
    """An instance of which nothing can be heard any more."""


class InstanceLink:
    """Follows one instance in a thread of its own.

    Args:
        ray: The package.
        actor: The actor of the instance.
        folder: The run's folder on this machine.
        host: Name of the instance.
        where: What messages call its place.
        seen_s: For ``CheckpointMirror``, where checkpoints are brought while the instance
            runs; None: they are not.
        told: Called from the thread when ``ended``, ``lost`` or ``failure`` has changed.
    """

    def __init__(  # noqa: PLR0913  all of what it joins
        self,
        ray: Any,  # noqa: ANN401  a module
        actor: Any,  # noqa: ANN401  Ray's own
        *,
        folder: RunFolder,
        host: str,
        where: str,
        seen_s: dict[str, float] | None,
        told: Callable[[], None],
    ) -> None:
        self._ray = ray
        self._actor = actor
        self._where = where
        self._host = host
        self._told = told
        self._mirror = InstanceMirror(folder, host)
        self._checkpoints: CheckpointMirror | None = None
        if seen_s is not None:
            self._checkpoints = CheckpointMirror(
                self._mirror, folder, host, piece=self._piece, seen_s=seen_s
            )
        self._is_fetched = False
        self._is_actor_gone = False
        self._heard_s = 0.0
        self.ended: InstanceEnd | None = None
        """How it ended; None: it runs, or is lost."""
        self.lost = ""
        """Why nothing can be heard of it any more, also of what it saved; empty: it can."""
        self.failure = ""
        """Why what it told is not kept here; empty: it is."""
        self.thread = threading.Thread(target=self._follow, name=f"smtc-{host}", daemon=True)

    def end(self) -> None:
        """Ask the instance to end. Does not wait."""
        self._actor.end.remote()

    def wait(self, limit_s: float) -> None:
        """Wait until the instance has ended and told everything, or does not get on with it.

        Args:
            limit_s: How long it may take to end, and to be heard of after that, in seconds.
        """
        begun_s = time.monotonic()
        while self.thread.is_alive():
            heard_s = begun_s if self.ended is None else max(begun_s, self._heard_s)
            if time.monotonic() >= heard_s + limit_s:
                if self.ended is None and self._heard_s < begun_s:
                    self._lose("nothing was heard of it when it was to end")
                return
            self.thread.join(_LOOK_S)

    def close(self) -> None:
        """Let go of the instance; returns when nothing of it is left on its node."""
        if self._is_actor_gone:
            return  # its keeper has heard the same, and ends it
        closed = self._actor.close.remote(is_fetched=self._is_fetched)
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.get(closed, timeout=_CALL_LIMIT_S)

    def _follow(self) -> None:
        try:
            try:
                self._take_all()
                self._fetch()
            except _NotHeardError as error:
                if self.ended is not None:
                    self._say(f"what {self._where}, has saved stays there: {error}.")
                self._lose(str(error))
            finally:
                self._mirror.close()
        except (StoreError, OSError) as error:
            self.failure = f"What {self._where}, has told cannot be kept: {error}"
        self._told()

    def _lose(self, why: str) -> None:
        self.lost = f"{self._where}, was lost: {why}."

    def _take_all(self) -> None:
        cursor: dict[str, int] = {}
        while True:
            is_copying = self._checkpoints is not None and self._checkpoints.is_busy
            asked_s = time.monotonic()
            news = self._call("poll", cursor, 0.0 if is_copying else _POLL_S)
            self._mirror.take(news)
            cursor = news["cursor"]
            self._copy(news["checkpoints"], asked_s)
            if news["ended"] == {}:
                raise _NotHeardError("its keeper was killed")
            if news["ended"] is None:
                continue
            if self.ended is None:
                self.ended = instance_end(news["ended"])
                self._told()
            if not news["logs"] and not news["records"]:
                return

    def _copy(self, listed: list[tuple[str, int, int]] | None, asked_s: float) -> None:
        """Go on to bring checkpoints of a spot job."""
        if self._checkpoints is not None:
            if listed is not None:
                self._checkpoints.take(listed, asked_s)
            self._checkpoints.go_on(time.monotonic() + _COPY_S)

    def _piece(self, *what: Any) -> bytes | None:  # noqa: ANN401  as the actor's method
        data: bytes | None = self._call("piece", *what)
        return data

    def _fetch(self) -> None:
        """Bring what the entry point saved, as far as it is within the limit."""
        outputs = self._call("outputs")
        if self._checkpoints is not None:
            self._checkpoints.go_on()  # what is on its way
            self._checkpoints.take(self._call("listing"), time.monotonic())
            self._checkpoints.go_on()
            self._checkpoints.end()
            outputs = [one for one in outputs if not one[0].startswith(f"{CHECKPOINTS}/")]
        total_bytes = 0
        left: list[str] = []
        for name, num_bytes in outputs:
            total_bytes += num_bytes
            if total_bytes > OUTPUT_LIMIT_BYTES:
                left.append(name)
                continue
            with self._mirror.path_of(name).open("wb") as file:
                while piece := self._call("read", name, file.tell(), PIECE_BYTES):
                    file.write(piece)
        self._is_fetched = not left
        if left:
            self._say(
                f"{len(left)} files beyond {OUTPUT_LIMIT_BYTES / 2**30:g} GiB stay with "
                f"{self._where}; the first is {left[0]}."
            )

    def _say(self, text: str) -> None:
        """Add a line to the instance's log."""
        line = f"smtc-lab: {text}\n".encode()
        self._mirror.take({"logs": {f"{self._host}.log": line}, "records": []})

    def _call(self, method: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401  as the actor's methods
        """Return what a method of the actor returns; a network that fails is tried again.

        Raises:
            _NotHeardError: Nothing is heard; says why.
        """
        errors = self._ray.exceptions
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                asked = getattr(self._actor, method).remote(*args, **options)
                answer = self._ray.get(asked, timeout=_CALL_LIMIT_S)
                self._heard_s = time.monotonic()
                return answer  # noqa: TRY300  only an answer ends this
            except (errors.ActorUnavailableError, errors.GetTimeoutError) as error:
                if time.monotonic() >= until:
                    self._is_actor_gone = True
                    raise _NotHeardError(_said(error)) from error
                time.sleep(_LOOK_S)  # Ray does not tell when it can be reached again
            except errors.RayError as error:
                self._is_actor_gone = True
                raise _NotHeardError(_said(error)) from error


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}".rstrip(".")
