"""Samples that cannot be prepared, and memory that is not there: F18 and F20."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from smtc_lab.errors import DataServiceError, SampleError
from tests.dataservice.faults.trial import Noisy, order_of, undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.trial import Trial

pytestmark = pytest.mark.usefixtures("unhurried")
NUM_SAMPLES = 40
POISONED = order_of(Noisy(NUM_SAMPLES))[18]
"""A sample of batch 4."""

MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")


class Raising(Noisy):
    def __getitem__(self, index: int) -> Any:
        if index == POISONED:
            raise ValueError(f"image {index} is broken")
        return super().__getitem__(index)


class NotANumber(Noisy):
    def __getitem__(self, index: int) -> Any:
        sample = super().__getitem__(index)
        return (index, sample[1] * float("nan")) if index == POISONED else sample


class Misshapen(Noisy):
    def __getitem__(self, index: int) -> Any:
        return (index, torch.rand(4)) if index == POISONED else super().__getitem__(index)


class Hungry(Noisy):
    """One sample needs more memory than a data worker may have."""

    def __init__(self, num_samples: int, library: str) -> None:
        super().__init__(num_samples)
        self.library = library

    def __getitem__(self, index: int) -> Any:
        if index == POISONED and self.is_in_data_worker():
            resource.setrlimit(resource.RLIMIT_AS, (2**33, resource.RLIM_INFINITY))
            if self.library == "torch":
                torch.ones(2**34, dtype=torch.uint8)
            np.ones(2**34, dtype=np.uint8)
        return super().__getitem__(index)


class Greedy(Noisy):
    """The first data worker that comes to one sample takes more memory than its group has."""

    def __init__(self, num_samples: int, group: Path, taken: Path) -> None:
        super().__init__(num_samples)
        self.group = group
        self.taken = taken
        """Made by the one that takes it."""

    def __getitem__(self, index: int) -> Any:
        if index == POISONED and self.is_in_data_worker() and not self.taken.exists():
            self.taken.touch()
            (self.group / "cgroup.procs").write_text(str(os.getpid()))
            np.ones(2**28, dtype=np.uint8)
        return super().__getitem__(index)


@pytest.fixture(params=["trainer", "server"])
def placed(
    request: pytest.FixtureRequest,
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
) -> Callable[..., Trial]:
    """Make trials whose two data workers are the trainer's, or a server's."""

    def make(dataset: Noisy, **arguments: Any) -> Trial:
        if request.param == "trainer":
            return begin(dataset, num_local_workers=2, **arguments)
        return begin(dataset, [serve().address], **arguments)

    return make


@pytest.fixture
def memory_group() -> Iterator[Path]:
    """A control group with too little memory for a data worker that takes some more."""
    group = MEMORY_GROUPS / f"smtc-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(64 * 2**20))
        with contextlib.suppress(OSError):  # without it, swap would be used first
            (group / "memory.memsw.limit_in_bytes").write_text(str(64 * 2**20))
    except OSError as error:
        pytest.skip(f"no control group for memory can be made here ({error})")
    yield group
    group.rmdir()


def fails_at_batch_4(trial: Trial) -> DataServiceError:
    """Return what comes in place of batch 4, after all other batches were checked."""
    expected = undisturbed(Noisy(NUM_SAMPLES))
    batches = iter(trial.loader)
    for number in range(4):
        assert next(batches)[0].tolist() == expected[number][0]
    with pytest.raises(DataServiceError) as raised:
        next(batches)
    rest = [(batch[0].tolist(), batch[1].flatten().tolist()) for batch in batches]
    assert rest == expected[5:]
    return raised.value


def test_a_sample_that_raises_costs_its_own_batch_only(placed: Callable[..., Trial]) -> None:
    error = fails_at_batch_4(placed(Raising(NUM_SAMPLES)))

    assert isinstance(error, SampleError)
    assert str(error).startswith(f"Sample {POISONED} could not be prepared on ")
    assert f"ValueError: image {POISONED} is broken" in str(error)


def test_a_sample_of_another_shape_costs_its_own_batch_only(
    placed: Callable[..., Trial],
) -> None:
    error = fails_at_batch_4(placed(Misshapen(NUM_SAMPLES)))

    assert isinstance(error, SampleError)
    assert f"{POISONED}" in str(error).split("could not be prepared on ")[0]
    assert "equal size" in str(error)


def test_a_sample_that_is_not_a_number_comes_as_it_is(placed: Callable[..., Trial]) -> None:
    batches = list(placed(NotANumber(NUM_SAMPLES)).loader)

    expected = undisturbed(Noisy(NUM_SAMPLES))
    for number, (ids, noise) in enumerate(batches):
        is_nan = ids == POISONED
        assert noise.isnan().all(dim=1).tolist() == is_nan.tolist()
        kept = torch.tensor(expected[number][1]).reshape(4, 3)[~is_nan]
        assert noise[~is_nan].equal(kept)


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_a_data_worker_without_memory_says_so(
    placed: Callable[..., Trial], library: str
) -> None:
    error = fails_at_batch_4(placed(Hungry(NUM_SAMPLES, library)))

    assert isinstance(error, SampleError)
    assert str(error).startswith(f"Sample {POISONED} could not be prepared on ")
    assert "memory" in str(error).splitlines()[0] or "allocate" in str(error).splitlines()[0]


def test_a_data_worker_that_the_kernel_kills_for_memory_is_told_as_that(
    memory_group: Path,
    tmp_path: Path,
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
) -> None:
    dataset = Greedy(NUM_SAMPLES, memory_group, tmp_path / "taken")
    server = serve()
    trial = begin(dataset, [server.address])

    for _ in trial:
        pass

    assert dataset.taken.exists()
    trial.judge()
    event = server.next_event()
    assert "SIGKILL" in event
    assert "memory" in event
