"""Whether torch computes gradients of weights right where it does so at a later time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def can_split(
    sent: Sequence[torch.Tensor],
    received: Sequence[torch.Tensor],
    weights: Iterable[torch.nn.Parameter],
) -> bool:
    """Return whether the backward of a stage can be computed in two parts.

    torch (2.15) keeps the gradients of the operations where weights come in, and goes on from
    these later. A weight that is used twice it counts twice or meets again after its graph was
    freed, and what was computed from weights alone it leaves out.

    Args:
        sent: What the stage sends, with its graph.
        received: What it was computed from.
        weights: The parameters of the stage.
    """
    backward = "torch.distributed.pipelining._backward"
    construct_reverse_graph = needed(f"{backward}:construct_reverse_graph")
    get_param_groups = needed(f"{backward}:get_param_groups")
    roots = [one.grad_fn for one in sent if one.grad_fn is not None]
    leaves = {_leaf(one) for one in received if one.requires_grad}
    if not all(_reaches(root, leaves) for root in roots):
        return False
    edges = construct_reverse_graph(roots)
    own = [
        node for node in (_leaf(one) for one in weights if one.requires_grad) if node in edges
    ]
    groups = get_param_groups(list(leaves), own, edges)
    return all(len(group["intermediates"]) == 1 for group in groups)


def _leaf(value: torch.Tensor) -> Any:  # noqa: ANN401  a node of torch's graph
    return torch.autograd.graph.get_gradient_edge(value).node


def _reaches(root: Any, leaves: set[Any]) -> bool:  # noqa: ANN401  as above
    seen: set[Any] = set()
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if node in leaves:
            return True
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions]
    return False
