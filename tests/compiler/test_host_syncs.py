from __future__ import annotations

import inspect
import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch._dynamo
from torch._dynamo.utils import counters

from smtc_lab.compiler.observing.host_syncs import HostSyncs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE = "test_host_syncs.py"

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a")
# torch hides this warning of its own only where warnings are no errors


@pytest.fixture
def syncs() -> Iterator[HostSyncs]:
    observing = HostSyncs(first_step=1, num_steps=2)
    yield observing
    observing.close()


def line_of(code: str) -> int:
    """Number of the line of this file that holds this code first."""
    lines = inspect.getsource(inspect.getmodule(line_of) or HostSyncs).splitlines()
    return next(n for n, line in enumerate(lines, 1) if code in line)


def run(syncs: HostSyncs, step: Callable[[int], Any], *, num_steps: int = 5) -> None:
    for number in range(num_steps):
        step(number)
        syncs.step_ended(number)


def found(syncs: HostSyncs) -> set[tuple[str, int | None, float]]:
    return {
        (sync.operation, sync.place and sync.place.line, sync.per_step)
        for sync in syncs.fields()["host_syncs"]
    }


def test_each_read_is_counted_with_its_line(syncs: HostSyncs) -> None:
    loss = torch.tensor(2.0)

    def step(_: int) -> None:
        loss.item()
        loss.item()  # twice in a step, on two lines
        float(loss)
        if loss > 1:
            torch.ones(2).tolist()
        torch.ones(2).nonzero()

    run(syncs, step)

    first = line_of("loss.item()")
    assert syncs.fields()["observed_steps"] == 2
    assert found(syncs) == {
        ("item", first, 1.0),
        ("item", first + 1, 1.0),
        ("float", first + 2, 1.0),
        ("bool", first + 3, 1.0),
        ("tolist", first + 4, 1.0),
        ("nonzero", first + 5, 1.0),
    }


def test_a_printed_loss_is_one_read_however_many_it_takes(syncs: HostSyncs) -> None:
    loss = torch.tensor([1.0, 2.0])

    def step(number: int) -> None:
        str(loss)
        f"{loss[0]:.3f} at {number}"

    run(syncs, step)

    line = line_of("str(loss)")
    assert found(syncs) == {("print", line, 1.0), ("print", line + 1, 1.0)}


def test_a_read_every_other_step_is_half_a_read_for_each(syncs: HostSyncs) -> None:
    def step(number: int) -> None:
        if number % 2:
            torch.ones(()).item()

    run(syncs, step)

    ((_, _, per_step),) = found(syncs)
    assert per_step == 0.5


def test_only_the_observed_steps_are_seen_and_nothing_is_left_behind(
    syncs: HostSyncs,
) -> None:
    own = set(vars(torch.Tensor))
    plain = {name: getattr(torch.Tensor, name) for name in ("item", "__repr__", "__bool__")}
    observed = []

    def step(_: int) -> None:
        observed.append(torch.Tensor.item is not plain["item"])

    run(syncs, step)

    assert observed == [False, True, True, False, False]
    assert syncs.is_done
    assert {name: getattr(torch.Tensor, name) for name in plain} == plain
    assert set(vars(torch.Tensor)) == own


def test_an_observation_that_is_cut_short_tells_what_it_saw(syncs: HostSyncs) -> None:
    run(syncs, lambda _: torch.ones(()).item(), num_steps=2)
    torch.ones(()).item()  # in a step that never ended
    syncs.close()

    assert syncs.fields()["observed_steps"] == 1
    assert torch.Tensor.item is torch._C.TensorBase.item


def test_a_loop_without_reads_has_none(syncs: HostSyncs) -> None:
    run(syncs, lambda _: torch.ones(3).sum())

    assert syncs.fields() == {"observed_steps": 2, "host_syncs": ()}


def test_what_an_optimizer_reads_of_its_own_counters_is_not_counted(syncs: HostSyncs) -> None:
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], foreach=False)

    def step(_: int) -> None:
        weight.sum().backward()
        optimizer.step()

    run(syncs, step)

    assert found(syncs) == set()


def test_what_the_dataloader_reads_is_not_counted(syncs: HostSyncs) -> None:
    class Reading(torch.utils.data.Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 8

        def __getitem__(self, index: int) -> torch.Tensor:
            return torch.full((2,), torch.tensor(index).item())

    loader = iter(torch.utils.data.DataLoader(Reading()))
    run(syncs, lambda _: next(loader))

    assert found(syncs) == set()


def test_another_threads_reads_are_not_counted(syncs: HostSyncs) -> None:
    def step(_: int) -> None:
        thread = threading.Thread(target=torch.ones(()).item)
        thread.start()
        thread.join()

    run(syncs, step)

    assert found(syncs) == set()


def test_compiled_code_is_not_compiled_again_for_it(syncs: HostSyncs) -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        factor = x.sum().item()  # ends the graph
        if x.mean() > 0:  # a branch on a value
            x = x + 1
        return x * 2 + factor * 0

    torch._dynamo.reset()
    compiled = torch.compile(scaled, backend="aot_eager")
    compiled(torch.ones(3))
    frames = dict(counters["frames"])

    run(syncs, lambda _: compiled(torch.ones(3)))

    assert dict(counters["frames"]) == frames
    assert {(operation, line) for operation, line, _ in found(syncs)} == {
        ("item", line_of("factor = x.sum()")),
        ("bool", line_of("if x.mean() > 0")),
    }
    torch._dynamo.reset()


def test_code_that_is_compiled_meanwhile_stays_right(syncs: HostSyncs) -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * x.sum().item() + int(x.numel())

    torch._dynamo.reset()
    compiled = torch.compile(scaled, backend="aot_eager")
    results = []
    run(syncs, lambda number: results.append(compiled(torch.ones(number + 2)).tolist()))

    assert results == [[float(2 * size)] * size for size in range(2, 7)]
    torch._dynamo.reset()
