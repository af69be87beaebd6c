"""Hooks of optimizer steps that no compiler traces into a script's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable

_TRACER = "torch._dynamo.symbolic_convert:InstructionTranslator.current_tx"


def untraced(
    hook: Callable[..., None], *, when_left_out: Callable[[], object] = lambda: None
) -> Callable[..., None]:
    """Return a hook that does its work beside a compiled optimizer step, or stays out of it.

    Where the script lets its graph break, it breaks for the hook, which runs as it is. Where
    the script asks for one whole graph (``fullgraph=True``), the hook leaves no trace in it,
    and is not called.

    Args:
        hook: As ``register_optimizer_step_post_hook`` takes it.
        when_left_out: Called when a step is compiled that the hook will not hear of.
    """
    apart: list[Callable[..., None]] = []

    def may_break() -> bool:
        if _wants_one_graph():
            when_left_out()
            return False
        if not apart:
            # it imports the compiler: only here
            apart.append(torch.compiler.disable(hook))  # type: ignore[no-untyped-call]
        return True

    def run_apart(*given: Any) -> None:  # noqa: ANN401  whatever an optimizer gives its hooks
        apart[0](*given)

    # What the public decorators set, which import the compiler.
    marked: Any = may_break
    marked._dynamo_marked_constant = True  # noqa: SLF001  run, not traced
    broken: Any = run_apart
    broken._torchdynamo_disable = True  # noqa: SLF001  the graph breaks at its call

    def called(*given: Any) -> None:  # noqa: ANN401  as above
        if not torch.compiler.is_dynamo_compiling():
            hook(*given)
        elif may_break():
            run_apart(*given)

    return called


def _wants_one_graph() -> bool:
    """Return whether what is traced now must not be broken; so also if that is unknown."""
    try:
        tracer: Any = needed(_TRACER)()
        return bool(tracer.one_graph or tracer.error_on_graph_break)
    except Exception:  # noqa: BLE001  another torch's
        return True
