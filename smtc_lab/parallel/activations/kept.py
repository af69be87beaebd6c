"""What a job's distribution says of the activations of its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from smtc_lab.parallel.group import is_joined, trainer_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.instance.mesh import TrainerLayout


def keep_less(
    model: torch.nn.Module, layout: TrainerLayout, say: Callable[[str, str], None]
) -> None:
    """Let a model's layers be computed again, or what they keep wait in host memory.

    Args:
        model: Any model, before it is wrapped.
        layout: Says which of both.
        say: Tells people; one trainer says it for all.
    """
    if is_joined() and torch.distributed.get_rank():

        def say(_kind: str, _sentence: str) -> None: ...

    if layout.activation_checkpointing:
        from smtc_lab.parallel.activations.recompute import recompute  # noqa: PLC0415  others do without

        layers = recompute(model)
        say(
            "activation_checkpointing",
            f"{layers} layers of {type(model).__name__} keep their inputs alone and are "
            "computed again in the backward pass.",
        )
    if layout.activation_offload:
        from smtc_lab.parallel.activations.offload import offload  # noqa: PLC0415  others do without

        say("activation_offload", _moved(model, offload(model)))


def _moved(model: torch.nn.Module, layers: int) -> str:
    """Return what happens to the activations of so many layers on this trainer's device."""
    device = trainer_device().type
    named = f"what {layers} layers of {type(model).__name__} keep for the backward pass"
    if device == "cuda":
        return f"{named[0].upper()}{named[1:]} waits in host memory until they need it."
    return (
        f"activation_offload moves nothing here: this trainer computes on {device}, where "
        f"{named} is in host memory already. On a GPU it would be moved; what is counted of an "
        "emulated device's memory is as if it were."
    )
