"""Opens what a trainer has sent of a loader, in a process that runs nothing else."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from smtc_lab.dataservice.batch_types.registry import register_type
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.dataservice.recipe.packing import digest_of
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from smtc_lab.dataservice.protocol.wire import Message
    from smtc_lab.dataservice.recipe.surroundings import TrainerSurroundings
    from smtc_lab.dataservice.source import LoaderSource


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """A recipe that has come whole."""

    digest: bytes
    """Names it."""

    body: bytes
    """The pickle."""

    buffers: list[Any]
    """The memory beside it."""

    files: list[tuple[str, int]]
    """Files that must be here, with their sizes."""

    def lacks_files(self) -> bool:
        """Return whether a file is not here, or of another size."""
        return any(_size_of(path) != nbytes for path, nbytes in self.files)

    def open(self) -> LoaderSource:
        """Return the loader, in surroundings like its trainer's.

        Only a trainer that has proved the job's secret gets so far.

        Raises:
            DataServiceError: It cannot be opened; says why.
        """
        try:
            opened = pickle.Unpickler(io.BytesIO(self.body), buffers=self.buffers)  # noqa: S301  see above
            surroundings: TrainerSurroundings = opened.load()
            surroundings.adopt()
            types, source = opened.load()
            for kind, take, make in types:
                register_type(kind, take=take, make=make)
        except Exception as error:
            raise DataServiceError(
                f"its parts cannot be opened there ({type(error).__name__}: "
                f"{str(error)[:300]}). Bring the modules that they come from to all instances"
            ) from error
        return cast("LoaderSource", source)


def read_recipe(message: Message) -> Received:
    """Return the checked content of a message that brings a recipe.

    Raises:
        ProtocolError: It is no such message, or was damaged on its way.
    """
    with contextlib.suppress(TypeError, ValueError):  # it is made of something else
        match message.value if message.kind is Kind.RECIPE else None:
            case [str(digest), list(files), np.ndarray() as body, *buffers]:
                came = bytes(body)
                named = [(str(path), int(nbytes)) for path, nbytes in files]
                views = [memoryview(cast("bytes", buffer)) for buffer in buffers]
                if (found := digest_of(came, views)) == bytes.fromhex(digest):
                    return Received(digest=found, body=came, buffers=buffers, files=named)
                raise ProtocolError("A recipe does not have the digest that it was sent with.")
    raise ProtocolError(
        f"A RECIPE was expected, but {message.kind.name} {reprlib.repr(message.value)} came. "
        f"{SAME_VERSION}"
    )


def _size_of(path: str) -> int | None:
    try:
        return os.path.getsize(path)  # noqa: PTH202  as it came
    except OSError:
        return None
