"""Which of several instances that failed is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision.gang import Exit, Outcome, goes_on_without, outcome

if TYPE_CHECKING:
    from smtc_lab.spec.cluster import Role

ROLES = {"algo-1": "train", "algo-2": "train"}
GROUPS = {"algo-1": "dnn", "algo-2": "dnn"}


def named(**exits: Exit) -> Outcome:
    found = outcome(
        {host.replace("_", "-"): ended for host, ended in exits.items()},
        ROLES,  # type: ignore[arg-type]  # plain texts
        GROUPS,
    )
    assert found is not None
    return found


def test_the_instance_that_failed_first_is_named_whichever_ended_first() -> None:
    found = named(
        algo_1=Exit(exit_code=1, rank=0, failed_at_s=20.1),
        algo_2=Exit(exit_code=137, signal=9, rank=3, failed_at_s=20.0),
    )

    assert (found.host, found.rank) == ("algo-2", 3)
    assert "algo-2 (dnn), rank 3, was killed by signal 9" in found.reason


def test_one_that_was_ended_by_us_is_not_named() -> None:
    found = named(
        algo_1=Exit(exit_code=143, signal=15),
        algo_2=Exit(exit_code=3, rank=2, failed_at_s=20.0),
    )

    assert found.host == "algo-2"


def test_a_rank_that_hangs_is_named_before_those_that_wait_for_it() -> None:
    found = named(
        algo_1=Exit(exit_code=1, failed_at_s=20.0, hung_s=31.0),
        algo_2=Exit(exit_code=1, rank=3, failed_at_s=20.5, hung_s=31.4),
    )

    assert found.reason == (
        "Rank 3 on algo-2 (dnn) hangs: no trainer took a step for 31 s, and the others wait "
        "for it. The stacks of all ranks are in their logs."
    )


def test_ranks_that_all_wait_are_said_to() -> None:
    found = named(algo_1=Exit(exit_code=1, failed_at_s=20.0, hung_s=31.0))

    assert found.rank is None
    assert "On algo-1 (dnn) no trainer took a step for 31 s: all wait inside" in found.reason


def test_trainers_go_on_without_a_lost_data_instance_but_for_one_with_its_own_server() -> None:
    roles: dict[str, Role] = {"algo-1": "train", "algo-2": "data", "algo-3": "data"}
    lost = Exit(exit_code=137, agent_signal=9)

    spared = [host for host in roles if goes_on_without(host, lost, roles, {"algo-3"})]

    assert spared == ["algo-2"]
