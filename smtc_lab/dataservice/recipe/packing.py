"""Packs what a data worker needs of a loader: one pickle, and large memory beside it.

Classes and functions of ``__main__`` go by value, those of modules by name: a data instance has
the source of the script, and runs no line of it. Memory of tensors and arrays is not copied; of
a file that numpy maps, the name goes.
"""

from __future__ import annotations

import functools
import io
import itertools
import mmap
import os
import pickle
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import cloudpickle
import cloudpickle.cloudpickle
import numpy as np
import torch
import xxhash

from smtc_lab.dataservice.batch_types.registry import registered_types
from smtc_lab.dataservice.protocol.wire import MAX_FRAME_BYTES, Kind, pack
from smtc_lab.dataservice.recipe import rebuilding
from smtc_lab.dataservice.recipe.surroundings import TrainerSurroundings
from smtc_lab.errors import DataServiceError, UnsendableError

if TYPE_CHECKING:
    from smtc_lab.dataservice.source import LoaderSource

_LEAST_BESIDE = 2**14
"""Memory below this goes inside the pickle: a buffer of its own costs more."""

_CACHING = type(functools.cache(len))
_TRACKER = tuple(f"_DYNAMIC_CLASS_TRACKER_{what}" for what in ("BY_CLASS", "BY_ID", "LOCK"))
_MOST_LOOKED = 2_000
_DEEPEST = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """What is sent of a loader."""

    digest: bytes
    """Names it: equal content has an equal one."""

    body: bytes
    """The pickle."""

    buffers: list[memoryview]
    """The memory that goes beside it."""

    files: list[tuple[str, int]]
    """Files that are mapped, with their size in bytes; each must be on the data instance."""

    shared: list[memoryview]
    """Memory of tensors that the trainer shares with other processes."""

    shared_digest: bytes
    """What was in it."""

    def has_shared_news(self) -> bool:
        """Return whether shared memory has changed, as forked data workers would see it."""
        return bool(self.shared) and digest_of(b"", self.shared) != self.shared_digest

    @property
    def nbytes(self) -> int:
        """Bytes that are sent."""
        return len(self.body) + sum(view.nbytes for view in self.buffers)

    def message(self) -> list[memoryview]:
        """Return the message that brings it.

        Raises:
            DataServiceError: It has changed since it was packed.
        """
        if digest_of(self.body, self.buffers) != self.digest:
            raise DataServiceError("it changed while it was sent")
        views: list[Any] = [self.body, *self.buffers]
        parts = [np.frombuffer(view, np.uint8) for view in views]
        return pack(Kind.RECIPE, 0, [self.digest.hex(), [*map(list, self.files)], *parts])


def packed(source: LoaderSource, *, names_files: bool = True) -> Recipe:
    """Return what is sent of a loader.

    Args:
        source: Dataset, ``collate_fn`` and ``worker_init_fn``.
        names_files: Whether mapped files go by their names; else as their content.

    Raises:
        UnsendableError: It cannot be sent; says which attribute, and why.
    """
    try:
        # Where modules are found must be known before one is looked for.
        things = TrainerSurroundings.here(), (registered_types(), source)
        body, buffers, files, shared = pickled(*things, names_files=names_files)
    except Exception as error:
        raise UnsendableError(_blamed(source, error)) from error
    nbytes = len(body) + sum(view.nbytes for view in buffers)
    if nbytes > MAX_FRAME_BYTES:
        raise UnsendableError(
            f"it has {nbytes} bytes in memory, but at most {MAX_FRAME_BYTES} can be sent. Keep "
            "it in a file, and map that with numpy.memmap"
        )
    return Recipe(
        digest=digest_of(body, buffers),
        body=body,
        buffers=buffers,
        files=files,
        shared=shared,
        shared_digest=digest_of(b"", shared),
    )


def digest_of(body: bytes, buffers: list[memoryview]) -> bytes:
    """Return what names a recipe of this content; 15 GB/s."""
    digest = xxhash.xxh3_128(body)
    for view in buffers:
        digest.update(view.nbytes.to_bytes(8))
        digest.update(view)
    return digest.digest()


def pickled(
    *things: object, names_files: bool = True
) -> tuple[bytes, list[memoryview], list[tuple[str, int]], list[memoryview]]:
    """Return a pickle, the memory beside it, the files that it names, and shared memory of it.

    Raises:
        Exception: Anything that a class raises that cannot be pickled.
    """
    buffers: list[memoryview] = []

    def is_inside(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes < _LEAST_BESIDE:
            return True
        buffers.append(view)
        return False

    body = io.BytesIO()
    pickler = _Pickler(body, is_inside, names_files=names_files)
    for thing in things:
        pickler.dump(thing)
    return body.getvalue(), buffers, pickler.files, pickler.shared


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    """Cloudpickle's, with the memory of tensors and the names of mapped files."""

    def __init__(self, file: io.BytesIO, is_inside: Any, *, names_files: bool) -> None:  # noqa: ANN401  a callback
        super().__init__(file, protocol=5, buffer_callback=is_inside)
        self.files: list[tuple[str, int]] = []
        self.shared: list[memoryview] = []
        self._names_files = names_files
        self._storages: dict[tuple[int, int], rebuilding.StorageMemory] = {}

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401  whatever is pickled
        if isinstance(obj, torch.Tensor):
            return self._of_tensor(obj)
        if isinstance(obj, np.memmap):
            return self._of_mapped(obj)
        if isinstance(obj, io.TextIOWrapper) and obj not in {sys.stdout, sys.stderr}:
            # Cloudpickle would send all that is in the file.
            raise pickle.PicklingError("an open file cannot be sent")
        if type(obj) is functools.cached_property:  # up to Python 3.11 it holds a lock
            return functools.cached_property, (obj.func,), {"attrname": obj.attrname}
        if isinstance(obj, _CACHING | type | TypeVar) and _is_of_script(obj):
            if isinstance(obj, _CACHING):  # goes by its name, which nobody has there
                return rebuilding.cached, (obj.__wrapped__, obj.cache_parameters())
            _name_alike(obj)
        return super().reducer_override(obj)

    def _of_tensor(self, tensor: torch.Tensor) -> Any:  # noqa: ANN401  what a pickle takes
        if tensor.device.type != "cpu":
            raise pickle.PicklingError(
                f"it lies on {tensor.device}, which only the trainer has"
            )
        is_plain = type(tensor) is torch.Tensor and not vars(tensor)
        if (
            not is_plain
            or tensor.layout is not torch.strided
            or tensor.is_quantized
            or tensor.is_conj()
            or tensor.is_neg()
            or not tensor.is_leaf
            or not tensor.untyped_storage().nbytes()
        ):
            return NotImplemented
        storage = tensor.untyped_storage()
        place = storage.data_ptr(), storage.nbytes()
        if place not in self._storages:
            flat = torch.empty(0, dtype=torch.uint8).set_(storage)
            self._storages[place] = rebuilding.StorageMemory(flat.numpy())
            if storage.is_shared():
                self.shared.append(flat.numpy().data)
        return rebuilding.tensor, (
            self._storages[place],
            tensor.dtype,
            tensor.storage_offset(),
            tuple(tensor.size()),
            tensor.stride(),
            tensor.requires_grad,
        )

    def _of_mapped(self, array: np.memmap[Any, Any]) -> Any:  # noqa: ANN401  as above
        root: Any = array
        while isinstance(root.base, np.memmap):
            root = root.base
        is_whole = isinstance(root.base, mmap.mmap) and array.flags.c_contiguous
        is_there = root.filename is not None and os.path.isfile(root.filename)  # noqa: PTH113  as below
        if not (self._names_files and is_whole and is_there) or root.mode == "c":
            return np.ascontiguousarray(array).view(np.ndarray).__reduce_ex__(5)
        path = os.path.realpath(root.filename)
        self.files.append((path, os.path.getsize(path)))  # noqa: PTH202  as numpy names it
        offset = root.offset + array.ctypes.data - root.ctypes.data
        mode = "r" if root.mode == "r" else "c"  # what is written there stays there
        return rebuilding.mapped, (path, array.dtype, array.shape, int(offset), mode)


def _is_of_script(thing: Any) -> bool:  # noqa: ANN401  a class, or what is called like one
    named = getattr(thing, "__qualname__", "")
    return thing.__module__ == "__main__" or "<locals>" in named


def _name_alike(thing: Any) -> None:  # noqa: ANN401  a class or a type variable
    """Give what goes by value one name in all trainers, where cloudpickle draws one."""
    try:
        names, known, lock = (getattr(cloudpickle.cloudpickle, name) for name in _TRACKER)
    except AttributeError:  # another cloudpickle; then each trainer's goes for itself
        return
    said = f"{thing.__module__}.{getattr(thing, '__qualname__', thing.__name__)}"
    numbered = (f"{said} {number}" for number in itertools.count())
    with lock:
        if thing not in names:
            name = names[thing] = next(name for name in numbered if name not in known)
            known[name] = thing


def _blamed(source: LoaderSource, error: Exception) -> str:
    """Return which part of a loader cannot be packed, and why, as a clause."""
    for name in ("dataset", "collate_fn", "worker_init_fn"):
        found = _Blame().of(getattr(source, name), name, 0)
        if found is not None:
            return found
    return f"the loader cannot be packed ({_brief(error)})"


class _Blame:
    """Looks for the innermost attribute that cannot be packed."""

    def __init__(self) -> None:
        self._looked = 0

    def of(self, thing: object, path: str, depth: int) -> str | None:
        """Return the path and the reason; None: it can be packed."""
        self._looked += 1
        if self._looked > _MOST_LOOKED:
            return None
        try:
            pickled(thing)
        except Exception as error:  # noqa: BLE001  anything that a class may raise
            if depth < _DEEPEST:
                for name, part in _parts(thing):
                    found = self.of(part, path + name, depth + 1)
                    if found is not None:
                        return found
            return f"{path} ({type(thing).__name__}): {_brief(error)}"
        return None


def _parts(thing: Any) -> list[tuple[str, object]]:  # noqa: ANN401  any object
    if isinstance(thing, dict):
        return [(f"[{name!r}]", part) for name, part in thing.items()]
    if isinstance(thing, list | tuple):
        return [(f"[{number}]", part) for number, part in enumerate(thing)]
    found = getattr(thing, "__dict__", None)
    return [(f".{name}", part) for name, part in found.items()] if type(found) is dict else []


def _brief(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
