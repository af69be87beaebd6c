"""A declared network holds gradients back, and changes nothing of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.parallel.link.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable

    RunRanks = Callable[[str, int], list[str]]

_TRAIN = """
from smtc_lab.instance.link import LinkDeclaration, DeclaredWire
from smtc_lab.parallel.link.ddp import watch_ddp
from smtc_lab.parallel.link.exchange import FollowedExchange
from smtc_lab.parallel.link.pace import Pace

declared, own_hook = {declared}, {own_hook}
wire = DeclaredWire(latency_s=1e-4, bytes_per_s=2e7)
pace = Pace(LinkDeclaration(inside=wire, between=None), world_size=n, local_world_size=n)
exchange = FollowedExchange(pace if declared else None, measures_noise=True)
watch_ddp(exchange)
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(4)]), bucket_cap_mb=0.1
)
if own_hook:
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
    model.register_comm_hook(None, fp16_compress_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 128)).square().mean().backward()
    optimizer.step()
    buckets = exchange.take()
total = sum(float(each.double().sum()) for each in model.parameters())
print(json.dumps({{
    "total": total,
    "bytes": [each.num_bytes for each in buckets],
    "is_last": [each.is_last for each in buckets],
    "is_late": all(each.end_s >= each.here_s + pace.all_reduce_s(each.num_bytes)
                   for each in buckets),
    "in_order": all(each.ready_s <= each.here_s <= each.end_s for each in buckets),
    "norms": [(each.local_norm2, each.mean_norm2) for each in buckets],
}}))
"""


def trained(run_ranks: RunRanks, *, declared: bool, own_hook: bool = False) -> list[dict]:
    program = _TRAIN.format(declared=declared, own_hook=own_hook)
    return [json.loads(output.splitlines()[-1]) for output in run_ranks(program, 2)]


def test_a_declared_network_holds_every_bucket_back_and_trains_the_same_bits(
    run_ranks: RunRanks,
) -> None:
    plain, held = (trained(run_ranks, declared=each) for each in (False, True))

    assert all(rank["is_late"] and rank["in_order"] for rank in held)
    assert {rank["total"] for rank in held} == {rank["total"] for rank in plain}
    assert len(held[0]["bytes"]) > 1
    assert sum(held[0]["bytes"]) == 4 * (128 * 128 + 128) * 4
    assert held[0]["is_last"] == [False] * (len(held[0]["bytes"]) - 1) + [True]
    for (local0, mean), (local1, other) in zip(held[0]["norms"], held[1]["norms"], strict=True):
        assert mean == pytest.approx(other)
        assert 0 < mean <= (local0 + local1) / 2 * (1 + 1e-6)


def test_a_hook_that_the_script_registers_still_averages(run_ranks: RunRanks) -> None:
    plain = trained(run_ranks, declared=True)
    own = trained(run_ranks, declared=True, own_hook=True)

    assert own[0]["total"] == own[1]["total"]
    assert own[0]["total"] != plain[0]["total"]
    assert own[0]["total"] == pytest.approx(plain[0]["total"], abs=0.1)


def test_the_slowest_wire_of_a_ring_sets_its_pace() -> None:
    fast, slow = (
        DeclaredWire(latency_s=1e-6, bytes_per_s=1e10),
        DeclaredWire(latency_s=1e-4, bytes_per_s=1e8),
    )
    link = LinkDeclaration(inside=fast, between=slow)

    across = Pace(link, world_size=8, local_world_size=4).all_reduce_s(10**8)
    within = Pace(link, world_size=8, local_world_size=8).all_reduce_s(10**8)

    assert across == pytest.approx(14 * (1e-4 + 10**8 / 8 / 1e8))
    assert within == pytest.approx(14 * (1e-6 + 10**8 / 8 / 1e10))


def test_collectives_follow_each_other_on_one_network() -> None:
    link = LinkDeclaration(inside=None, between=DeclaredWire(latency_s=0.0, bytes_per_s=1e6))
    pace = Pace(link, world_size=2, local_world_size=1)

    assert pace.reserve(10.0, 2.0) == 12.0
    assert pace.reserve(11.0, 2.0) == 14.0
    assert pace.reserve(20.0, 2.0) == 22.0
