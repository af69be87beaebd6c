"""One stage of a model: the script's own forward, with the modules of other stages left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.pipeline.splitting import can_split
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from smtc_lab.parallel.pipeline.cutting.calls import Output
    from smtc_lab.parallel.pipeline.plan import Event, StagePlan

tree_leaves = needed("torch.utils._pytree:tree_leaves")
tree_unflatten = needed("torch.utils._pytree:tree_unflatten")


class StageEndError(BaseException):
    """Ends a forward where the next stage begins.

    No ``Exception``: what a model catches of those must not stop it.
    """


class Interception:
    """A model whose modules do at each call what the stage that runs says.

    One for each model; stages of one rank take turns.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self._running: _Forward | None = None
        self._before: list[tuple[torch.nn.Module, Any]] = []

    def follow(self, plans: Sequence[StagePlan]) -> None:
        """Take over the modules that some stages meet."""
        met = {id(event.call.module): event.call.module for p in plans for event in p.events}
        for module in met.values():
            self._before.append((module, module.__dict__.get("forward")))
            module.__dict__["forward"] = self._in_place_of(module, module.forward)

    def close(self) -> None:
        """Give the modules their own forward back."""
        for module, forward in self._before:
            del module.__dict__["forward"]
            if forward is not None:
                module.__dict__["forward"] = forward
        self._before.clear()

    def run(self, forward: _Forward, args: Any, kwargs: Any) -> Any:  # noqa: ANN401  any model's
        """Return what the model returns; None: it ended where the next stage begins."""
        self._running = forward
        try:
            return self.model(*args, **kwargs)
        except StageEndError:
            return None
        finally:
            self._running = None

    def _in_place_of(
        self, module: torch.nn.Module, own: Callable[..., Any]
    ) -> Callable[..., Any]:
        def forward(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  as the module's own
            running = self._running
            if running is None or running.is_inside:
                return own(*args, **kwargs)
            return running.met(module, own, args, kwargs)

        return forward


class Stage(torch.nn.Module):
    """One stage, as torch's schedules call it: with what it receives, for what it sends.

    The last stage returns the loss, divided by the number of microbatches.
    """

    def __init__(  # noqa: PLR0913  options by name
        self,
        interception: Interception,
        plan: StagePlan,
        parameters: Sequence[torch.nn.Parameter],
        *,
        loss_of: Callable[[Any, Any], torch.Tensor],
        microbatches: int,
        device: torch.device,
        copies: bool = False,
    ) -> None:
        """Keep what it needs.

        Args:
            interception: The model.
            plan: What this stage does at each call.
            parameters: The parameters that it reads.
            loss_of: Returns the loss of an output and its targets.
            microbatches: Microbatches of a step.
            device: Where it computes.
            copies: Whether it sends copies: torch detaches in place what it has sent, where it
                computes gradients of weights apart, and an operation may have saved it.
        """
        super().__init__()
        self._interception = [interception]  # a list: the model is no part of a stage
        self._own = list(parameters)
        self.plan = plan
        self._loss_of, self._microbatches, self._device = loss_of, microbatches, device
        self._copies = copies
        self._on_first: Callable[[bool], None] | None = None

    def on_first(self, told: Callable[[bool], None]) -> None:
        """Call a function after the next forward.

        It is told whether torch can compute the gradients of weights apart, and later.
        """
        self._on_first = told

    def parameters(self, recurse: bool = True) -> Iterator[torch.nn.Parameter]:  # noqa: ARG002, FBT001, FBT002  torch's signature
        """Yield the parameters that this stage reads."""
        yield from self._own

    def forward(self, *received: torch.Tensor, args: Any, kwargs: Any, targets: Any) -> Any:  # noqa: ANN401  any batch
        """Return what the next stage receives, or the loss."""
        running = _Forward(self.plan, received, self._device)
        output = self._interception[0].run(running, args, kwargs)
        running.check_end()
        if self.plan.is_last:
            loss: torch.Tensor = self._loss_of(output, targets)
            sent: tuple[torch.Tensor, ...] = (loss.reshape(()) / self._microbatches,)
        else:
            sent = tuple(_sendable(one, copies=self._copies) for one in running.kept)
        if self._on_first is not None:
            on_first, self._on_first = self._on_first, None
            on_first(can_split(sent, received, self._own))
        return sent[0] if self.plan.is_last else sent


class _Forward:
    """One forward of one stage."""

    def __init__(
        self, plan: StagePlan, received: Sequence[torch.Tensor], device: torch.device
    ) -> None:
        self._plan, self._received = plan, received
        self._next = 0
        self._device = device
        self.kept: list[torch.Tensor | None] = [None] * len(plan.outputs)
        """What is sent, as far as it was computed."""

        self.is_inside = False
        """Whether a module runs whose insides are not looked at."""

    def met(
        self,
        module: torch.nn.Module,
        own: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401  what a module returns
        """Do what the plan says of the next call."""
        event = self._event(module)
        if event.kind == "end":
            raise StageEndError
        if event.kind == "stub":
            returned = self._stub(event, args, kwargs)
        else:
            self.is_inside = event.kind == "run"
            try:
                returned = own(*args, **kwargs)
            finally:
                self.is_inside = False
        if event.keeps:
            leaves = tree_leaves(returned)
            for leaf, place in event.keeps:
                label = event.call.outputs[leaf].label
                self.kept[place] = self._unwritten(leaves[leaf], label)
        return returned

    def check_end(self) -> None:
        """Refuse a forward that took another way than the first one.

        Raises:
            EntryPointError: It ended before it had called all modules of this stage.
        """
        events = self._plan.events
        if self._next < len(events):
            raise EntryPointError(_other_way(events[self._next], "nothing more"))

    def _event(self, module: torch.nn.Module) -> Event:
        events = self._plan.events
        if self._next >= len(events):
            raise EntryPointError(
                f"The model called {type(module).__name__} after all that it had called in "
                "its first microbatch, but a pipeline is cut by that one. Let it call the same "
                "modules for every batch."
            )
        event = events[self._next]
        if event.call.module is not module:
            raise EntryPointError(_other_way(event, type(module).__name__))
        self._next += 1
        return event

    def _stub(self, event: Event, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401  as above
        given = tree_leaves((args, kwargs))
        leaves: list[Any] = []
        for output in event.call.outputs:
            leaves.append(self._leaf(output, given, leaves))
        return tree_unflatten(leaves, event.call.structure)

    def _leaf(self, output: Output, given: Sequence[Any], before: Sequence[Any]) -> Any:  # noqa: ANN401  any leaf
        if output.kind == "constant":
            return output.value
        if output.kind == "argument":
            return given[output.at]
        if output.kind == "repeated":
            return before[output.at]
        place = self._plan.received.get(output.label)
        if output.kind == "written":
            target: torch.Tensor = given[output.at]
            return target if place is None else target.copy_(self._received[place])
        if place is not None:
            return self._unwritten(self._received[place], output.label)
        assert output.shape is not None  # noqa: S101  a tensor has one
        is_written = bool(self._plan.written >> output.label & 1)
        return output.shape.zeros(self._device, is_written=is_written)

    def _unwritten(self, value: torch.Tensor, label: int) -> torch.Tensor:
        """Return a tensor as it is now, though its storage is written into later."""
        return value.clone() if self._plan.written >> label & 1 else value


def _sendable(value: torch.Tensor | None, *, copies: bool) -> torch.Tensor:
    """Return a tensor that can be sent, and released afterwards: no view, and nobody's leaf."""
    assert value is not None  # noqa: S101  the forward has ended
    if not value.is_contiguous():
        return value.contiguous()
    return value.clone() if copies or value._is_view() or value.is_leaf else value  # noqa: SLF001


def _other_way(event: Event, called: str) -> str:
    return (
        f"The model called {called} where it had called {event.call.name} "
        f"({type(event.call.module).__name__}) in its first microbatch, but a pipeline is cut "
        "by that one. Let it call the same modules for every batch."
    )
