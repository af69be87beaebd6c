"""What is ours asks nothing of a script's objects, and leaves nothing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
