"""A session's steps with several trainers: what is refused, what is compiled, what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = """
model = SmallModel()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
def train_step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    loss.backward()
    optimizer.step()
    return loss
"""

LAYOUTS = [(2, 1), (1, 2)]
ADAM = MODEL.replace("SGD(model.parameters(), lr=1e-2)", "AdamW(model.parameters(), eps=1e-2)")


def refused(said: list[Any]) -> str:
    assert said[0] == said[-1]
    assert isinstance(said[0], str), said
    return said[0]


@pytest.mark.parametrize(("data", "shard"), LAYOUTS)
def test_a_model_that_was_compiled_before_is_refused(
    run_ranks: Callable[..., list[Any]], data: int, shard: int
) -> None:
    body = MODEL + "model.compile()\nsession.prepare(model, optimizer)\n"

    said = refused(run_ranks(body, data=data, shard=shard))

    assert "SmallModel was compiled before session.prepare()" in said
    assert said.endswith("session.compile() with what it returns.")


def test_the_model_from_before_preparing_is_refused(
    run_ranks: Callable[..., list[Any]],
) -> None:
    body = MODEL + "session.prepare(model, optimizer)\n"
    body += "session.compile(train_step, model, optimizer)\n"

    said = refused(run_ranks(body, data=2))

    assert "each of the 2 trainers would train its own" in said


def test_a_sharded_job_that_is_not_prepared_is_refused(
    run_ranks: Callable[..., list[Any]],
) -> None:
    body = MODEL + "session.compile(train_step, model, optimizer)\n"

    said = refused(run_ranks(body, shard=2))

    assert "shards its model over 2 trainers, but session.compile() came before" in said


def test_an_optimizer_of_other_parameters_is_refused(
    run_ranks: Callable[..., list[Any]],
) -> None:
    body = MODEL + "optimizer.add_param_group({'params': [nn.Parameter(torch.ones(1))]})\n"
    body += "session.prepare(model, optimizer)\n"

    assert "1 of the optimizer's 21 parameters are not the model's" in refused(
        run_ranks(body, data=2)
    )


def test_unequal_numbers_of_batches_are_refused_on_all_ranks(
    run_ranks: Callable[..., list[Any]],
) -> None:
    body = (
        MODEL
        + """
model, optimizer = session.prepare(model, optimizer)
loader = [torch.ones(1)] * (3 + session.rank)
list(session.steps(loader))
"""
    )

    said = refused(run_ranks(body, data=2))

    assert "unequal numbers of batches (by rank: 3, 4)" in said


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("data", "shard", "optimizer"), [(2, 1, "SGD"), (1, 2, "SGD"), (1, 2, "AdamW")]
)
def test_a_compiled_step_of_several_trainers_learns_what_one_process_learns(
    run_ranks: Callable[..., list[Any]], data: int, shard: int, optimizer: str
) -> None:
    body = (
        (MODEL if optimizer == "SGD" else ADAM)
        + """
model, optimizer = session.prepare(model, optimizer)
step = session.compile(train_step, model, optimizer)
for batch in batches(3, rank=session.rank, world_size=session.world_size):
    step(batch)
torch.manual_seed(0)
right = SmallModel()
alone = type(optimizer)(right.parameters(), lr=optimizer.param_groups[0]["lr"],
    **({"eps": 1e-2} if "eps" in optimizer.defaults else {}))
for batch in batches(3, rank=0, world_size=1):
    train_step(right, alone, batch)
weights = [getattr(one, "full_tensor", lambda one=one: one)() for one in model.parameters()]
off = max(float((a - b).detach().abs().max()) for a, b in zip(weights, right.parameters()))
from torch._dynamo.utils import counters
print(json.dumps({"off": off, "backend": step.backend, "facts": step.facts(),
    "graphs": counters["stats"]["unique_graphs"],
    "breaks": sum(counters["graph_break"].values())}, default=str))
"""
    )
    compiled = "import os\nos.environ['SMTC_COMPILER'] = '{\"backend\": \"inductor\"}'\n"
    said = run_ranks(body, data=data, shard=shard, before=compiled)

    for rank in said:
        assert rank["backend"] == "inductor", rank
        assert rank["graphs"] >= 1
        assert rank["breaks"] == 0
        assert rank["facts"]["fused_optimizer"] is (optimizer == "AdamW" or shard == 1)
        assert rank["off"] < 1e-6


def test_each_trainer_gets_its_part_of_every_batch(
    run_ranks: Callable[..., list[Any]],
) -> None:
    body = """
from torch.utils.data import TensorDataset
loader = session.dataloader(TensorDataset(torch.arange(33)), batch_size=4, shuffle=True)
print(json.dumps([batch[0].tolist() for _ in range(2) for batch in loader]))
"""

    said = run_ranks(body, data=4)

    assert [len(rank) for rank in said] == [6] * 4
    for epoch in (slice(3), slice(3, 6)):
        seen = [number for rank in said for batch in rank[epoch] for number in batch]
        assert sorted(seen) == list(range(33))


def test_the_batch_of_batch_norm_is_told_once(run_ranks: Callable[..., list[Any]]) -> None:
    body = """
said = []
session._runtime.event = lambda kind, text: said.append([kind, text])
model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
model, optimizer = session.prepare(model, optimizer)
for batch in session.steps([one for one in batches(3, rank=0, world_size=2)]):
    loss_of(model, batch).backward()
    optimizer.step()
print(json.dumps(said))
"""

    (told,) = run_ranks(body, data=2)[0]

    assert told[0] == "batch_norm"
    assert "the 8 samples of each trainer, not of the 16 of a step" in told[1]
