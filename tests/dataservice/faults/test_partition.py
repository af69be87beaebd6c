"""A network that falls apart and heals, between two network namespaces: F9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import DataServiceError
from tests.dataservice.faults.namespaces import Cable, CannotMakeNamespacesError, inside
from tests.dataservice.faults.trial import Noisy, undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.trial import Trial

NUM_SAMPLES = 160


@pytest.fixture
def cable() -> Iterator[Cable]:
    try:
        with Cable() as made:
            yield made
    except CannotMakeNamespacesError as error:
        pytest.skip(f"network namespaces cannot be made here ({error})")


@pytest.fixture
def server(cable: Cable, serve: Callable[..., RunningServer]) -> RunningServer:
    """A data server at the far end of the cable."""
    with inside(cable.far):
        return serve(host=cable.far_address)


def test_a_short_partition_only_costs_time(
    cable: Cable, server: RunningServer, begin: Callable[..., Trial]
) -> None:
    trial = begin(Noisy(NUM_SAMPLES), [server.address])

    with inside(cable.near):
        for step in trial:
            if step == 12:
                cable.unplug()
                cable.plug()

    trial.judge()
    assert {server for server, _ in trial.holders()} == {"algo-2"}


def test_a_trainer_goes_on_alone_and_takes_the_server_back_when_the_network_heals(
    cable: Cable, server: RunningServer, begin: Callable[..., Trial]
) -> None:
    trial = begin(Noisy(NUM_SAMPLES), [server.address], num_local_workers=1)

    with inside(cable.near):
        is_plugged = True
        while is_plugged:
            for _ in trial:
                if is_plugged and trial.count("answered", "algo-2"):
                    cable.unplug()
                    is_plugged = False
        while not trial.told("algo-2") and not trial.told(str(server.address)):
            for _ in trial:
                pass
        cut = trial.count("answered", "algo-2")
        cable.plug()
        while trial.count("answered", "algo-2") == cut:
            for _ in trial:
                pass

    assert cut > 0
    trial.judge()


def test_a_trainer_that_is_cut_off_for_good_is_told_so(
    cable: Cable, server: RunningServer, begin: Callable[..., Trial]
) -> None:
    trial = begin(Noisy(NUM_SAMPLES), [server.address], timeout=5)

    with inside(cable.near):
        steps = iter(trial)
        for _ in range(12):
            next(steps)
        cable.unplug()
        with pytest.raises(DataServiceError, match=r"timeout|could be reached"):
            list(steps)

    assert trial.got == undisturbed(trial.dataset)[: len(trial.got)]
