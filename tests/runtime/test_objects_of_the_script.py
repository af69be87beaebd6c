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
