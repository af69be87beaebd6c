"""A script that is the only trainer of a job without a distribution: as under ``python``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    RunScript = Callable[..., Any]

LONE = {"SMTC_LONE_TRAINER": "1", "GLOO_SOCKET_IFNAME": "lo"}

STARTS_RANKS = """
    import os, socket, subprocess, sys
    children = []
    if "RANK" not in os.environ:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE="2", RANK="0")
        told = {**os.environ, "RANK": "1"}
        children.append(subprocess.Popen([sys.executable, *sys.argv], env=told))

    import torch  # not before it says what its ranks are
    import torch.distributed as dist
    from smtc_lab.runtime.instance_runtime import instance_runtime

    dist.init_process_group("gloo")
    total = torch.tensor(dist.get_rank() + 1.0)
    dist.all_reduce(total)
    if dist.get_rank() == 0:
        context = instance_runtime().context
        print("RESULT", total.item(), context.rank, context.world_size)
    dist.barrier()
    dist.destroy_process_group()
    for child in children:
        child.wait()
"""

ALONE_BY_ITSELF = """
    import os
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="192.0.2.1", MASTER_PORT="1", WORLD_SIZE="1", RANK="0")
    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    model(torch.ones(1, 1)).backward()
    print("RESULT", dist.get_world_size())
    dist.destroy_process_group()
"""


def results(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("RESULT")]


def test_ranks_that_it_starts_meet_and_its_records_are_those_of_rank_0(
    run_script: RunScript,
) -> None:
    ended = run_script(STARTS_RANKS, **LONE)

    assert (ended.exit_code, results(ended.printed)) == (0, ["RESULT 3.0 0 1"]), ended.errors
    assert [path.name for path in ended.folder.records.iterdir()] == ["algo-1-rank0.sqlite"]


def test_a_group_of_one_that_it_describes_itself_needs_no_port(run_script: RunScript) -> None:
    ended = run_script(ALONE_BY_ITSELF, **LONE)

    assert (ended.exit_code, results(ended.printed)) == (0, ["RESULT 1"]), ended.errors


def test_a_group_that_nobody_describes_is_torchs_own_error(run_script: RunScript) -> None:
    ended = run_script(
        """
        import torch.distributed as dist

        dist.init_process_group("gloo")
        """,
        **LONE,
    )

    assert ended.exit_code == 1
    assert "environment variable RANK expected, but not set" in ended.failure
