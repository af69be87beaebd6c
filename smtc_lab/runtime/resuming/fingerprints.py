"""Takes the fingerprints of a training as it goes on."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_pre_hook,
)

from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE
from smtc_lab.metrics.records.fingerprints import (
    AFTER,
    BATCH_DIGITS,
    BEFORE,
    BETWEEN,
    FOLDED,
    MOST_BATCHES,
    MOST_TENSORS,
    NAMES_FILE,
    TENSOR_DIGITS,
    FingerprintRecord,
)
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.parallel.untraced import untraced
from smtc_lab.runtime.resuming.random_numbers import random_numbers
from smtc_lab.store.tables import RecordSink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.runtime.instance_runtime import InstanceRuntime
    from smtc_lab.store.tables import Record

_WRAPPED = ("_orig_mod.", "module.")


def take_fingerprints(runtime: InstanceRuntime) -> None:
    """Record the fingerprints of each step of this process from now on."""
    taken = Fingerprints(runtime)
    runtime.replace_sink(lambda sink: _WithFingerprints(sink, taken))
    register_optimizer_step_pre_hook(untraced(taken.will_step))
    runtime.took = taken.took


class Fingerprints:
    """What is hashed of a process, and what it has drawn since its last step."""

    def __init__(self, runtime: InstanceRuntime) -> None:
        self._runtime = runtime
        self._optimizers: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._tensors: list[tuple[str, torch.Tensor]] | None = None
        self._batches: list[str] = []
        self._last: Callable[[], Optimizer | None] = lambda: None
        """The optimizer that stepped last."""
        self._counted: Callable[[], Optimizer | None] = lambda: None
        """The one with whose step the step before was recorded."""
        self._is_more = False
        """Whether another one has stepped since."""

    def took(self, batch: object) -> None:
        """Take in a batch that the next step is made of.

        One that cannot be hashed (a sparse tensor, a class that raises) counts as its class.
        """
        try:
            digest = _digest(batch)
        except Exception:  # noqa: BLE001  the script's own classes may raise anything
            digest = _digest(type(batch).__qualname__)
        self._batches.append(digest[:BATCH_DIGITS])

    def will_step(self, optimizer: Optimizer, *_: object) -> None:
        """Take what an attempt goes on with, before its first step.

        Of several optimizers the first one ends the step, and the others change the model
        after that: what the next step goes on with is taken before it, too.
        """
        if self._runtime.is_restoring:
            return
        is_first = not self._optimizers
        if is_first:  # those that step later have their state already
            objects = gc.get_objects()  # proxies among them may be of what is gone
            found = (one for one in objects if issubclass(type(one), Optimizer))
            self._optimizers.update(one for one in found if vars(one))
        self._optimizers.add(optimizer)
        timer = self._runtime.timer
        if is_first and not timer.num_steps:
            self._runtime.record(self.of(timer.first_step, BEFORE))
        elif optimizer is not self._counted():
            self._is_more = not self._runtime.is_timed_by_session
        elif self._is_more:
            self._runtime.record(self.of(timer.first_step + timer.num_steps, BETWEEN))
        self._last = weakref.ref(optimizer)

    def of(self, step: int, moment: str) -> FingerprintRecord:
        """Return the fingerprints of now."""
        each = [(one, _digest(one)) for _, one in self._named_tensors()]
        parameters = [found for one, found in each if isinstance(one, nn.Parameter)]
        buffers = [found for one, found in each if not isinstance(one, nn.Parameter)]
        batches = ""
        if moment == AFTER:
            batches, self._batches = _joined(self._batches), []
            self._counted, self._is_more = self._last, False
        optimizers = list(self._optimizers)
        return FingerprintRecord(
            step=step,
            moment=moment,
            batch=batches,
            random=_digest(random_numbers()) if moment == AFTER else "",
            rate=_digest(sorted(_digest(_settings(one)) for one in optimizers)),
            parameters=_digest(parameters),
            buffers=_digest(buffers) if moment == AFTER else "",
            optimizer=_digest(sorted(_digest(_state(one)) for one in optimizers)),
            tensors="".join(found[:TENSOR_DIGITS] for _, found in each[:MOST_TENSORS]),
        )

    def _named_tensors(self) -> list[tuple[str, torch.Tensor]]:
        """Return parameters and buffers of the models that are trained, with their names."""
        if self._tensors is None:
            self._tensors = list(_tensors_of(self._optimizers))
            base = os.environ.get(BASE_FOLDER_VARIABLE)
            if base and self._tensors:
                names = [name for name, _ in self._tensors[:MOST_TENSORS]]
                Path(base, NAMES_FILE).write_text(json.dumps(names), encoding="utf-8")
        return self._tensors


def _joined(batches: list[str]) -> str:
    """Return the hashes of batches in their order; of many those of the first ones in one."""
    first, last = batches[:-MOST_BATCHES], batches[-MOST_BATCHES:]
    return " ".join([*([f"{FOLDED}{_digest(first)[:BATCH_DIGITS]}"] if first else []), *last])


class _WithFingerprints(RecordSink):
    """A sink that takes fingerprints with each step."""

    def __init__(self, sink: RecordSink, taken: Fingerprints) -> None:
        self._sink, self._taken = sink, taken

    def append_values(self, record_class: type[Record], values: tuple[object, ...]) -> None:
        """Keep a record; with a step, what it left behind."""
        self._sink.append_values(record_class, values)
        if record_class is StepRecord and isinstance(values[0], int):
            self._sink.append(self._taken.of(values[0], AFTER))

    def flush(self) -> None:
        """Return when what was appended outlives this process."""
        self._sink.flush()

    def close(self) -> None:
        """Write what is left."""
        self._sink.close()


def _tensors_of(optimizers: Any) -> Iterator[tuple[str, torch.Tensor]]:  # noqa: ANN401  a set of them
    trained = {
        id(parameter)
        for optimizer in optimizers
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    # a proxy of what is gone cannot be asked for its class, as ``isinstance`` does
    modules = [one for one in gc.get_objects() if issubclass(type(one), nn.Module)]
    inner = {id(child) for one in modules for child in one.children()}
    outer = [one for one in modules if id(one) not in inner]
    seen: set[int] = set()
    for module in sorted(outer, key=_shapes):
        if not trained.intersection(map(id, module.parameters())):
            continue
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            if id(tensor) not in seen and not tensor.is_meta:  # what other stages hold
                seen.add(id(tensor))
                yield _plain_name(name), tensor


def _shapes(module: nn.Module) -> str:
    return str([(name, tuple(one.shape)) for name, one in module.named_parameters()])


def _plain_name(name: str) -> str:
    for wrapped in _WRAPPED:
        name = name.removeprefix(wrapped)
    return name


def _settings(optimizer: Optimizer) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in group.items() if name != "params"}
        for group in optimizer.param_groups
    ]


def _state(optimizer: Optimizer) -> list[Any]:
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    return [dict(optimizer.state.get(one, {})) for one in parameters]


def _digest(value: Any) -> str:  # noqa: ANN401  any value
    found = hashlib.blake2b(digest_size=8)
    _add(found, value)
    return found.hexdigest()


def _add(found: Any, value: Any) -> None:  # noqa: ANN401  a hash, any value
    """Add the bits of a value to a hash: tensors, and what holds some."""
    kind = type(value)  # isinstance would ask an object of the script for its class
    if issubclass(kind, torch.Tensor):
        local = getattr(value, "to_local", lambda: value)().detach()
        found.update(str((local.dtype, tuple(local.shape))).encode())
        flat = local.cpu().contiguous().reshape(-1)
        found.update(flat.view(torch.uint8).numpy().tobytes())
    elif issubclass(kind, dict):
        for key in sorted(value, key=str):
            found.update(f"{key}=".encode())
            _add(found, value[key])
    elif issubclass(kind, list | tuple):
        found.update(b"[")
        for one in value:
            _add(found, one)
    elif value is None or issubclass(kind, bool | int | float | str | bytes):
        found.update(repr(value).encode())
