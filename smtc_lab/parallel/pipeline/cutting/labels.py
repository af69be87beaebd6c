"""Which outputs of modules the values of each storage were computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from smtc_lab.parallel.pipeline.cutting.calls import Output, TensorShape
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from smtc_lab.parallel.pipeline.cutting.calls import ModuleCall

tree_flatten = needed("torch.utils._pytree:tree_flatten")


class Labels:
    """Labels of all storages of one pass."""

    def __init__(self) -> None:
        self.owner: dict[int, ModuleCall] = {}
        """The call that a label belongs to."""

        self.inner: dict[int, int] = {}
        """Labels that an output was computed from, as bits, by its label."""

        self.written = 0
        """Labels of what was written into later, as bits."""

        self._next = 0
        self._ops = 0
        self._of: dict[int, int] = {}
        self._born: dict[int, int] = {}
        self._written_at: dict[int, int] = {}
        self._parameters: dict[int, int] = {}
        self._kept: list[StorageWeakRef] = []  # so that no address means two storages
        self._schemas: dict[Any, tuple[int | str, ...]] = {}

    def add_parameter(self, value: torch.Tensor, number: int) -> None:
        """Take note of a parameter."""
        self._parameters[_key(value)] = number

    def is_parameter(self, key: int) -> bool:
        """Whether a storage is a parameter's."""
        return key in self._parameters

    def of(self, values: Iterable[torch.Tensor]) -> int:
        """Return the labels of some tensors, as bits."""
        found = 0
        for value in values:
            found |= self._of.get(_key(value), 0)
        return found

    def begin(self, call: ModuleCall, *, is_leaf: bool) -> None:
        """Begin a call."""
        call.first_label, call.first_op = self._next, self._ops
        if is_leaf:
            call.inside = self._new(call, 0)

    def computed(self, call: ModuleCall, func: Any, args: Any, kwargs: Any, out: Any) -> None:  # noqa: ANN401  an operation
        """Follow one operation."""
        self._ops += 1
        given = [_key(one) for one in _tensors((args, kwargs.values()))]
        read = 0
        for key in given:
            read |= self._of.get(key, 0)
            if key in self._parameters:
                call.parameters.add(self._parameters[key])
        call.reads |= read & ((1 << call.first_label) - 1)
        if call.inside >= 0:
            read |= 1 << call.inside
        for where in self._writes(func):
            target = kwargs.get(where) if isinstance(where, str) else _at(args, where)
            for value in _tensors((target,)):
                key = _key(value)
                self.written |= self._of.get(key, 0)
                self._of[key] = self._of.get(key, 0) | read
                self._written_at[key] = self._ops
        for value in _tensors((out,)):
            key = _key(value)
            if key not in given:
                self._of[key], self._born[key] = read, self._ops
                self._kept.append(StorageWeakRef(value.untyped_storage()))  # type: ignore[no-untyped-call]

    def end(self, call: ModuleCall, given: Sequence[Any], returned: Any) -> None:  # noqa: ANN401  of any module
        """End a call: what it returned is labelled as its own."""
        leaves, call.structure = tree_flatten(returned)
        outputs: list[Output] = []
        own: dict[int, int] = {}
        for place, leaf in enumerate(leaves):
            output = self._output(call, leaf, given, leaves[:place])
            outputs.append(output)
            if output.label >= 0:
                key = _key(leaf)
                is_new = output.kind == "written" or self._born.get(key, 0) > call.first_op
                kept = 0 if is_new else self._of.get(key, 0)
                own[key] = own.get(key, kept) | (1 << output.label)
        self._of.update(own)
        call.outputs = tuple(outputs)
        if call.parent is not None:
            call.parent.reads |= call.reads & ((1 << call.parent.first_label) - 1)

    def _output(
        self,
        call: ModuleCall,
        leaf: Any,  # noqa: ANN401  any leaf
        given: Sequence[Any],
        before: Sequence[Any],
    ) -> Output:
        at = next((i for i, one in enumerate(given) if one is leaf), -1)
        if not isinstance(leaf, torch.Tensor):
            is_given = at >= 0 and leaf is not None
            return Output("argument", at=at) if is_given else Output("constant", value=leaf)
        repeated = next((i for i, one in enumerate(before) if one is leaf), -1)
        if repeated >= 0:
            return Output("repeated", at=repeated)
        is_written = self._written_at.get(_key(leaf), 0) > call.first_op
        if at >= 0 and not is_written:
            return Output("argument", at=at)
        label = self._new(call, self._of.get(_key(leaf), 0))
        shape = TensorShape(tuple(leaf.shape), leaf.dtype, leaf.requires_grad)
        return Output("written" if at >= 0 else "tensor", label=label, shape=shape, at=at)

    def _new(self, call: ModuleCall, inner: int) -> int:
        label, self._next = self._next, self._next + 1
        self.owner[label], self.inner[label] = call, inner
        return label

    def _writes(self, func: Any) -> tuple[int | str, ...]:  # noqa: ANN401  an operator
        """Return which arguments an operation writes into."""
        if func not in self._schemas:
            found: list[int | str] = []
            schema = func._schema  # noqa: SLF001  there is no other way to it
            for place, one in enumerate(schema.arguments):
                if one.alias_info is not None and one.alias_info.is_write:
                    found.append(one.name if one.kwarg_only else place)
            self._schemas[func] = tuple(found)
        return self._schemas[func]


def _at(args: Sequence[Any], place: int | str) -> Any:  # noqa: ANN401  any argument
    return args[place] if isinstance(place, int) and place < len(args) else None


def _key(value: torch.Tensor) -> int:
    return int(value.untyped_storage()._cdata)  # noqa: SLF001  its address


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)) or type(value).__name__ == "dict_values":
            yield from _tensors(value)
