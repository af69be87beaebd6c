"""What stands in for the call of a module stays with that module."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import torch

from smtc_lab.compiler.module_call import OwnHook, replace_call, replaced_call


class Scaled(torch.nn.Module):
    """Says itself what is copied, as DistributedDataParallel does."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        return self.scale * value

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)


def test_copies_of_a_module_run_their_own_call() -> None:
    model, one = Scaled(), torch.ones(1)
    undo = replace_call(model, lambda value: 7 * model.forward(value))

    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]  # noqa: S301  our own
    for copied in copies:
        copied.scale.data.fill_(2.0)

    assert [each(one).item() for each in (model, *copies)] == [7.0, 2.0, 2.0]
    assert b"smtc_lab" not in pickle.dumps(model)

    undo()

    assert model(one).item() == 1.0
    assert replaced_call(model) is None
    assert "_compiled_call_impl" not in vars(model)


class Doubling:
    """Holds what no copy can have."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._lock = threading.Lock()
        model.register_forward_pre_hook(OwnHook(self._before), with_kwargs=True)
        model.register_forward_hook(OwnHook(self._after), always_call=True)

    def _before(self, module: object, args: Any, kwargs: Any) -> tuple[Any, Any]:
        del module
        with self._lock:
            return tuple(2 * one for one in args), kwargs

    def _after(self, module: object, args: object, output: torch.Tensor) -> torch.Tensor:
        del module, args
        return 2 * output


def test_hooks_of_ours_do_nothing_on_copies_of_their_module() -> None:
    model, one = Scaled(), torch.ones(1)
    Doubling(model)

    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]  # noqa: S301  our own

    assert [each(one).item() for each in (model, *copies)] == [4.0, 1.0, 1.0]
