"""Private names of torch that trainers need, each with what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import EntryPointError
from smtc_lab.machine.torch_names import needed_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_FAKE = "torch._subclasses.fake_tensor"

WHAT_FOR: Mapping[str, str] = {
    "torch._dynamo.symbolic_convert:InstructionTranslator.current_tx": (
        "tells whether a graph may be broken"
    ),
    f"{_FAKE}:DataDependentOutputException": "tells of a value that is not there",
    f"{_FAKE}:DynamicOutputShapeException": "tells of a shape that values decide",
    f"{_FAKE}:FakeTensor": "is a tensor without values",
    f"{_FAKE}:FakeTensorMode": "computes shapes alone",
    "torch.distributed.pipelining._backward:construct_reverse_graph": "turns a graph round",
    "torch.distributed.pipelining._backward:get_param_groups": "tells where weights come in",
    "torch.nn.utils.clip_grad:_get_total_norm": "tells the norm that gradients are clipped by",
    "torch.nn.modules.batchnorm:_BatchNorm": "is the base of all batch normalizations",
    "torch.utils._python_dispatch:TorchDispatchMode": "sees each operation",
    "torch.utils._pytree:tree_flatten": "takes nested values apart",
    "torch.utils._pytree:tree_leaves": "lists nested values",
    "torch.utils._pytree:tree_map_only": "changes nested values",
    "torch.utils._pytree:tree_unflatten": "puts nested values together",
}
"""By name, what is lost without it; to follow "which"."""


def needed(name: str) -> Any:  # noqa: ANN401  whatever it stands for
    """Return what a name of ``WHAT_FOR`` stands for.

    Raises:
        EntryPointError: This torch does not have it.
    """
    instead = "train without a pipeline"
    return needed_name(name, WHAT_FOR, error=EntryPointError, instead=instead)
