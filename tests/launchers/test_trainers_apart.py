"""Several trainers that are no more than one: each by itself, or all on the same samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.study.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

HERE = "here=local"
LIMIT_S = 60

TRAIN = """
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    data = TensorDataset(torch.arange(64.0).reshape(64, 1))
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(data, batch_size=4, {loader})
    for (batch,) in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
"""

ALONE = """
    import torch
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(8):
        weight.sum().backward()
        optimizer.step()
"""


def told(run: Run, kind: str) -> list[str]:
    return [event.message for event in run.records().events if event.kind == kind]


def test_a_script_that_never_joins_its_group_is_told_so(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    run = start(make_job(ALONE, cluster=HERE, distribution={"data": 2}))

    run.wait(LIMIT_S)

    (message,) = told(run, "alone")
    assert message.startswith("2 trainers train the same model 2 times")


@pytest.mark.parametrize(
    ("loader", "num_told"),
    [
        ("shuffle=True", 1),
        ("shuffle=False", 1),
        ("sampler=DistributedSampler(data)", 0),
    ],
)
def test_trainers_that_take_the_same_samples_are_told_so(
    make_job: Callable[..., TrainingJob],
    start: Callable[..., Run],
    loader: str,
    num_told: int,
) -> None:
    script = TRAIN.format(loader=loader)
    run = start(make_job(script, cluster=HERE, distribution={"data": 3}))

    run.wait(LIMIT_S)

    messages = told(run, "same_samples")
    assert len(messages) == num_told
    assert all(one.startswith("All 3 trainers took the same samples") for one in messages)


def test_a_comparison_begins_with_trainers_that_are_no_more_than_one(
    make_job: Callable[..., TrainingJob], root: Path
) -> None:
    jobs = [
        make_job(ALONE, cluster="one@here=local", max_steps=8),
        make_job(ALONE, cluster="two@here=local", distribution={"data": 2}, max_steps=8),
    ]

    comparison = compare(jobs, rounds=1, root=root).comparison

    first = comparison.findings[0]
    assert first.kind == "trainers_apart"
    assert first.sentence.startswith("The 2 trainers train the same model twice on two: ")
    assert comparison.verdict.startswith(first.text)
