"""What is ours asks nothing of a script's objects, and leaves nothing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.records.records import STEP_BOUNDARY

if TYPE_CHECKING:
    from tests.runtime.conftest import RunScript

BATCHES = """
    import torch
    from torch.utils.data import DataLoader

    class AttributeDict(dict):
        __getattr__ = dict.__getitem__

    class Mesh:
        def __init__(self, samples):
            self.x = torch.stack(samples)
        def shape(self):
            return tuple(self.x.shape)

    class Unasked:
        def __init__(self, samples):
            self.x = torch.stack(samples)
        def __getattribute__(self, name):
            if name == "x":
                return object.__getattribute__(self, "x")
            raise RuntimeError(f"asked for {name}")

    def attributes(samples):
        return AttributeDict(x=torch.stack(samples))

    def sparse(samples):
        return AttributeDict(x=torch.stack(samples), of=torch.eye(4).to_sparse())

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for collate in (attributes, Mesh, Unasked, sparse):
        for batch in DataLoader(torch.randn(8, 4), batch_size=4, collate_fn=collate):
            model(batch.x).mean().backward()
            optimizer.step()
"""


def test_batches_of_any_class_are_trained_on(run_warm: RunScript) -> None:
    ended = run_warm(BATCHES)

    assert [step.num_samples for step in ended.steps] == [4, 4, None, None, None, None, 4, 4]


HELD = """
    import copy, gc, pickle, weakref, torch
    from torch.utils.data import DataLoader

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(torch.randn(8, 4), batch_size=4)
    batches = iter(loader)
    before = [set(vars(one)) for one in (model, optimizer, loader, batches)]
    for x in batches:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    held = [model, optimizer, loader]
    copied = copy.deepcopy(held), pickle.loads(pickle.dumps(held))
    assert b"smtc" not in pickle.dumps(held)
    assert [set(vars(one)) for one in (*held, batches)] == before
    assert all(len(list(one[2])) == 2 for one in copied)
    references = [weakref.ref(one) for one in (*held, batches)]
    del model, optimizer, loader, batches, held, x
    gc.collect()
    print([one() for one in references])
"""


def test_nothing_is_kept_in_models_optimizers_loaders_and_iterators(
    run_warm: RunScript,
) -> None:
    ended = run_warm(HELD)

    assert ended.printed == "[None, None, None, None]\n"
    assert len(ended.steps) == 2


COMPILED = """
    import sys, torch
    from torch.utils.data import DataLoader

    class Plain(torch.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for one in group["params"]:
                    one.add_(one.grad, alpha=-group["lr"])

    is_whole, is_beneath = sys.argv[1] == "whole", sys.argv[1] == "beneath"
    model = torch.nn.Linear(4, 1)
    kind = Plain if is_whole else torch.optim.SGD  # torch's own break the graph
    optimizer = kind(model.parameters(), lr=0.5)
    before = model.bias.item()

    # As torch's own tests compile its optimizers: beneath what breaks the graph.
    plain_step = optimizer.step.__wrapped__.__wrapped__ if is_beneath else None

    @torch.compile(fullgraph=is_whole or is_beneath, backend="eager")
    def compiled():
        if is_beneath:
            plain_step(optimizer)
        else:
            optimizer.step()

    def step():
        with torch.set_grad_enabled(not is_beneath):
            compiled()

    for x in DataLoader(torch.randn(24, 4), batch_size=4):
        optimizer.zero_grad()
        model(x).mean().backward()
        step()
    print(round(before - model.bias.item(), 4))
"""


@pytest.mark.parametrize("graph", ["whole", "beneath", "broken"])
def test_a_compiled_optimizer_step_is_compiled_and_counted(
    run_warm: RunScript, graph: str
) -> None:
    ended = run_warm(COMPILED, graph)

    assert ended.printed.splitlines()[-1] == "3.0"
    assert [step.num_samples for step in ended.steps] == [4] * 6
    kinds = [] if graph == "broken" else [STEP_BOUNDARY]
    assert [event.kind for event in ended.events] == kinds
    assert "hooks.py" not in ended.errors  # the compiler warns of what it traces
