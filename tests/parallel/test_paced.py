"""A declared network holds back what a session's sharded model exchanges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.parallel.link.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable

WIRE = DeclaredWire(latency_s=1e-3, bytes_per_s=1e6)
LINK = LinkDeclaration(inside=WIRE, between=None)

TRAIN = """
import time
model = SmallModel()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
num_bytes = sum(one.nbytes for one in model.parameters())
model, optimizer = session.prepare(model, optimizer)
took = []
for batch in batches(2, rank=session.rank, world_size=session.world_size):
    began = time.perf_counter()
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    optimizer.step()
    took.append(time.perf_counter() - began)
total = sum(float(each.full_tensor().double().sum()) for each in model.parameters())
print(json.dumps({"bytes": num_bytes, "took": took, "total": total}))
"""


def test_a_sharded_model_waits_for_its_declared_network_and_learns_the_same_bits(
    run_ranks: Callable[..., list[Any]],
) -> None:
    told = json.dumps(LINK.to_values())
    declare = f"import os\nos.environ['SMTC_LINK'] = {told!r}\n"

    held = run_ranks(TRAIN, shard=2, before=declare)
    plain = run_ranks(TRAIN, shard=2)

    # parameters are gathered before the forward pass, and gradients scattered at its end
    pace = Pace(LINK, world_size=2, local_world_size=2)
    least_s = 2 * pace.gather_s(held[0]["bytes"])
    assert all(step_s >= least_s for rank in held for step_s in rank["took"])
    assert {rank["total"] for rank in held} == {rank["total"] for rank in plain}
