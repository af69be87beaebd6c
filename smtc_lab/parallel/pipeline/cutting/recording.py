"""One pass of a model that computes nothing: what modules cost, and whose outputs they need.

Every operation is seen below autograd. Each output of a module has a number (a label), and
each storage knows the labels that its values were computed from, so that in-place operations,
integers and what has no gradient are followed too.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.activations.offload import IS_OFFLOADED, moved_only_by
from smtc_lab.parallel.pipeline.cutting.calls import ModuleCall, Recording
from smtc_lab.parallel.pipeline.cutting.flops import flops_of
from smtc_lab.parallel.pipeline.cutting.labels import Labels
from smtc_lab.parallel.pipeline.cutting.stand_ins import stand_ins
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOT_IMAGINED = (
    needed("torch._subclasses.fake_tensor:DataDependentOutputException"),
    needed("torch._subclasses.fake_tensor:DynamicOutputShapeException"),
    RuntimeError,
)
"""What ends a pass without values where it needs some, or has an operation without shapes."""

FakeTensor: Any = needed("torch._subclasses.fake_tensor:FakeTensor")
FakeTensorMode: Any = needed("torch._subclasses.fake_tensor:FakeTensorMode")
TorchDispatchMode: Any = needed("torch.utils._python_dispatch:TorchDispatchMode")
tree_leaves = needed("torch.utils._pytree:tree_leaves")
tree_map_only = needed("torch.utils._pytree:tree_map_only")


def record(
    model: torch.nn.Module,
    inputs: tuple[tuple[Any, ...], dict[str, Any]],
    loss_of: Callable[[Any], torch.Tensor],
    device: torch.device,
) -> Recording:
    """Return what a forward and backward of one microbatch shows.

    Nothing of the model changes. No memory is needed; where the model decides by values (as
    experts that are chosen do), or torch cannot imagine an operation (their products in
    ``float32``, before 2.15), one real microbatch is computed.

    Args:
        model: Any model.
        inputs: Positional and keyword arguments of one microbatch.
        loss_of: Returns the loss of an output; its targets are bound to it.
        device: Where the pass is imagined.

    Raises:
        EntryPointError: The loss is not one number with a gradient.
    """
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return _Pass(model, device, is_fake=True).run(inputs, loss_of)
    except NOT_IMAGINED:
        with torch.random.fork_rng():
            return _Pass(model, device, is_fake=False).run(inputs, loss_of)


class _Pass:
    """One pass; modules are followed while it runs."""

    def __init__(self, model: torch.nn.Module, device: torch.device, *, is_fake: bool) -> None:
        self._model, self._device, self._is_fake = model, device, is_fake
        self._names = {id(one): name for name, one in model.named_modules()}
        self._counts: dict[int, int] = {}
        named = list(model.named_parameters())  # of a tied one the first name
        self._parameters = tuple(one for _, one in named)
        self._labels = Labels()
        self._root = self._current = ModuleCall(model, "", None, 0)
        self._saved: set[int] = set()
        self._parameter_names = tuple(name for name, _ in named)

    def run(
        self,
        inputs: tuple[tuple[Any, ...], dict[str, Any]],
        loss_of: Callable[[Any], torch.Tensor],
    ) -> Recording:
        args, kwargs = self._like(inputs)
        with ExitStack() as stack:
            stack.enter_context(stand_ins(self._model, self._stand_in, self._parameters))
            stack.enter_context(_followed(self._model, self._called))
            stack.enter_context(torch.enable_grad())
            stack.enter_context(moved_only_by(None))
            with (
                SeenOps(self._forward_op),
                torch.autograd.graph.saved_tensors_hooks(self._save, lambda saved: saved),
            ):
                output = self._model(*args, **kwargs)
                loss = loss_of(output)
                check_loss(loss)
                read = self._labels.of([loss])
            has_custom = _has_custom_functions(loss)
        return Recording(
            root=self._root,
            names=self._parameter_names,
            parameters=self._parameters,
            owner=self._labels.owner,
            inner=self._labels.inner,
            loss=read,
            loss_dtype=loss.dtype,
            written=self._labels.written,
            has_custom_functions=has_custom,
            is_without_values=self._is_fake,
        )

    def _like(self, values: Any) -> Any:  # noqa: ANN401  any tree of tensors
        def like(one: torch.Tensor) -> torch.Tensor:
            if not self._is_fake:
                return one.detach().to(self._device)
            return torch.empty(one.shape, dtype=one.dtype, device=self._device)

        return tree_map_only(torch.Tensor, like, values)

    def _stand_in(self, value: torch.Tensor, number: int | None) -> torch.Tensor:
        if self._is_fake:
            like = torch.empty_strided(
                value.shape, value.stride(), dtype=value.dtype, device=self._device
            )
        else:
            like = value.detach() if number is not None else value.detach().clone()
        if number is None:
            return like
        self._labels.add_parameter(like, number)
        return torch.nn.Parameter(like, requires_grad=value.requires_grad)

    def _called(
        self,
        module: torch.nn.Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401  what a module returns
        name = self._names[id(module)]
        count = self._counts[id(module)] = self._counts.get(id(module), 0) + 1
        call = ModuleCall(module, name if count == 1 else f"{name}#{count}", self._current, 0)
        call.is_offloaded = self._current.is_offloaded or hasattr(module, IS_OFFLOADED)
        self._labels.begin(call, is_leaf=not any(True for _ in module.children()))
        self._current.children.append(call)
        self._current = call
        returned = forward(*args, **kwargs)
        self._labels.end(call, tree_leaves((args, kwargs)), returned)
        self._current = call.parent or self._root
        return returned

    def _forward_op(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:  # noqa: ANN401
        call = self._current
        self._labels.computed(call, func, args, kwargs, out)
        forward, backward = flops_of(func, args, kwargs, out)
        call.forward_flops += forward
        call.backward_flops += backward
        if torch.Tag.nondeterministic_seeded in func.tags:
            call.is_random = True

    def _save(self, value: torch.Tensor) -> torch.Tensor:
        storage = value.untyped_storage()
        key = storage._cdata  # noqa: SLF001  its address
        if key not in self._saved and not self._labels.is_parameter(key):
            self._saved.add(key)
            self._current.activation_bytes += storage.nbytes()
        return value


class SeenOps(TorchDispatchMode):  # type: ignore[misc]  # found by its name
    """Calls a function for every operation."""

    def __init__(self, seen: Callable[[Any, Any, Any, Any], None]) -> None:
        super().__init__()
        self._seen = seen

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and guarding each operation takes long

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  an operator
        types: Any,  # noqa: ANN401  torch's signature
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if func is torch.ops.prim.device.default and isinstance(args[0], FakeTensor):
            return args[0].fake_device  # asked for again and again
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        self._seen(func, args, kwargs, out)
        return out


@contextmanager
def _followed(model: torch.nn.Module, called: Callable[..., Any]) -> Iterator[None]:
    """Let a function be called in place of each module's forward, but the model's own."""
    before: list[tuple[torch.nn.Module, Any]] = []
    for module in model.modules():
        if module is model:
            continue
        before.append((module, module.__dict__.get("forward")))
        module.__dict__["forward"] = _bound(called, module, module.forward)
    try:
        yield
    finally:
        for module, forward in before:
            del module.__dict__["forward"]
            if forward is not None:
                module.__dict__["forward"] = forward


def _bound(
    called: Callable[..., Any], module: torch.nn.Module, forward: Callable[..., Any]
) -> Callable[..., Any]:
    def followed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  as the module's own
        return called(module, forward, args, kwargs)

    return followed


def check_loss(loss: object) -> None:
    """Refuse a loss that nothing can be computed backward from.

    Raises:
        EntryPointError: It is not one number with a gradient.
    """
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or not loss.requires_grad:
        what = (
            f"a tensor of shape {tuple(loss.shape)}"
            if isinstance(loss, torch.Tensor)
            else f"a {type(loss).__name__}"
        )
        raise EntryPointError(
            f"The loss function returned {what}, but a pipeline needs one number that has a "
            "gradient: the mean over a microbatch."
        )


def _has_custom_functions(loss: torch.Tensor) -> bool:
    seen: set[Any] = set()
    waiting: list[Any] = [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            return True
        seen.add(node)
        waiting += [before for before, _ in node.next_functions]
    return False
