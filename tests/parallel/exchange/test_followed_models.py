"""A model that is followed is copied, saved, forgotten and averaged as one that is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    RunRanks = Callable[[str, int], list[str]]

_FOLLOWED = """
import copy, gc, io, pickle, weakref
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel
from smtc_lab.parallel.link.ddp import watch_ddp
from smtc_lab.parallel.link.exchange import FollowedExchange

exchange = FollowedExchange(None)
if follows:
    watch_ddp(exchange)
torch.manual_seed(0)

def tried(what):
    try:
        return what()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def trained(model, steps=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    return sum(float(each.double().sum()) for each in model.parameters())

def told(**what):
    print(json.dumps(what))
"""

_COPIES = """
model = DistributedDataParallel(torch.nn.Linear(8, 1))
if has_own_hook:
    model.register_comm_hook(None, fp16_compress_hook)
trained(model)

def saved():
    stream = io.BytesIO()
    torch.save(model, stream)
    stream.seek(0)
    return torch.load(stream, weights_only=False)

def averaged():
    made = AveragedModel(model)
    made.update_parameters(model)
    return trained(made.module)

exchange.take()
copies = [tried(lambda: trained(copy.deepcopy(model))), tried(lambda: trained(saved())),
          tried(lambda: trained(pickle.loads(pickle.dumps(model)))), tried(averaged)]
buckets = len(exchange.take())
alone = None
if rank == 0:
    alone = tried(lambda: type(copy.deepcopy(model)).__name__)
after = trained(model)
attributes = sorted(set(vars(model)) - set(vars(torch.nn.Linear(1, 1))))
names = b"smtc" in pickle.dumps(model)
dead = weakref.ref(model)
del model
gc.collect()
told(copies=copies, buckets=buckets, alone=alone, after=after, attributes=attributes,
     names=names, is_dead=dead() is None)
"""

_JOINS = """
inner = torch.nn.Linear(1, 1, bias=False)
torch.nn.init.zeros_(inner.weight)
model = DistributedDataParallel(inner)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

def step():
    optimizer.zero_grad()
    (-model(torch.ones(2, 1)).mean() * (1 + rank)).backward()
    optimizer.step()

weights = []
for by_all in (False, True):
    with model.join(divide_by_initial_world_size=by_all):
        for _ in range(2 + 3 * rank):
            step()
    weights.append(inner.weight.item())
    step()
    weights.append(inner.weight.item())
told(weights=weights)
"""

_OUTLIVES_ITS_GROUP = """
import sys
model = DistributedDataParallel(torch.nn.Linear(8, 1))
trained(model)
sys.setswitchinterval(1.0)
dist.all_reduce(torch.ones(1))  # a thread of the group lets go of it later, with the GIL
dist.destroy_process_group()
del model  # its reducer is the last that has the group
gc.collect()
told(ended=True)
dist.destroy_process_group = lambda: None
"""


def told(run_ranks: RunRanks, program: str, *, follows: bool, **more: object) -> list[Any]:
    values = more | {"follows": follows}
    given = "".join(f"{name} = {value}\n" for name, value in values.items())
    outputs = run_ranks(given + _FOLLOWED + program, 2)
    return [json.loads(output.splitlines()[-1]) for output in outputs]


@pytest.mark.parametrize("has_own_hook", [False, True], ids=["plain", "own hook"])
def test_a_followed_model_is_copied_saved_and_forgotten_as_any(
    run_ranks: RunRanks, *, has_own_hook: bool
) -> None:
    plain, ours = (
        told(run_ranks, _COPIES, follows=follows, has_own_hook=has_own_hook)
        for follows in (False, True)
    )

    assert [one.pop("buckets") for one in plain] == [0, 0]
    assert [one.pop("buckets") for one in ours] == [8, 8]  # two steps of four copies
    assert ours == plain
    assert not any(isinstance(copied, str) for one in ours for copied in one["copies"])
    assert [one["is_dead"] for one in ours] == [True, True]


def test_ranks_that_join_are_left_out_of_averages_as_ddp_is_told(run_ranks: RunRanks) -> None:
    plain, ours = (told(run_ranks, _JOINS, follows=follows) for follows in (False, True))

    # A step of both adds (1 + 2) / 2; one of rank 1 alone adds 2, or 2 / 2.
    assert [one["weights"] for one in ours] == [[9.0, 10.5, 16.5, 18.0]] * 2
    assert plain == ours


def test_a_model_may_outlive_its_process_group(run_ranks: RunRanks) -> None:
    assert told(run_ranks, _OUTLIVES_ITS_GROUP, follows=True) == [{"ended": True}] * 2
