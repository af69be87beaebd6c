"""What a rank would keep of a model whose layers are divided, without dividing it."""

from __future__ import annotations

import copy

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.tensor.parts import WHOLE
from smtc_lab.parallel.tensor.plans.table import PLANS
from smtc_lab.parallel.tensor.splitter import Splitter


def kept_share(
    model: torch.nn.Module, ranks: int, optimizer: torch.optim.Optimizer | None = None
) -> float | None:
    """Return the share of all parameters that each of the ranks would have, 0 to 1.

    Args:
        model: Any model; it is left as it is, and no memory is needed for its values.
        ranks: Ranks that would share its layers, at least 2.
        optimizer: Its optimizer; None: one that steps each value by itself.

    Returns:
        None: no block of it is known, one cannot be divided so, or the optimizer looks at
        whole parameters.
    """
    if isinstance(optimizer, WHOLE):
        return None
    values = (*model.parameters(), *model.buffers())
    like = {id(one): one.detach().to("meta") for one in values}
    for one in model.parameters():
        like[id(one)] = torch.nn.Parameter(like[id(one)], requires_grad=one.requires_grad)
    try:
        copied = copy.deepcopy(model, like)
    except (TypeError, RuntimeError, NotImplementedError):  # a module that is not copied
        return None
    total = sum(one.numel() for one in copied.parameters())
    stepping = torch.optim.SGD(copied.parameters(), lr=0.0)
    splitter = Splitter(copied, stepping, group=None, rank=0, ranks=ranks)
    try:
        for name, module in list(copied.named_modules()):
            for plan in PLANS:
                if plan.knows(module):
                    plan.split(module, name or type(module).__name__, splitter)
                    break
    except EntryPointError:
        return None
    if not splitter.splits:
        return None
    return sum(one.numel() for one in copied.parameters()) / total
