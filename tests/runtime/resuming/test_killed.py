"""A training that is killed at any moment goes on bit for bit."""

from __future__ import annotations

import json
import random
import signal
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.spec.compiler import TrainingCompilerConfig
from tests.dataservice.conftest import serve
from tests.kit.warm_ranks import run_script_on_ranks
from tests.parallel.conftest import free_port
from tests.runtime.resuming.trained import BATCH, EPOCHS, SCRIPT, SECRET, STEPS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["serve"]

KINDS: dict[str, dict[str, Any]] = {
    "alone": {},
    "2 data workers": {"workers": 2},
    "a data server": {"served": 1},
    "a stream": {"stream": True},
    "a stream, 2 data workers": {"stream": True, "workers": 2},
    "torch's own loader": {"torchs": True},
    "torch's own loader, 2 data workers": {"torchs": True, "workers": 2},
    "2 ranks": {"ranks": 2},
    "2 shards": {"ranks": 2, "shard": 2},
    "2 ranks, 2 data servers": {"ranks": 2, "served": 2},
    "compiled": {"compiled": True},
    "2 ranks, compiled": {"ranks": 2, "compiled": True},
}


def attempt(folder: Path, *, ranks: int = 1, shard: int = 1, **options: Any) -> list[Any]:
    """Run the script once; return what each rank told, None of one that was killed."""
    folder.mkdir(exist_ok=True)
    script = folder / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    shared = {
        "OPTIONS": json.dumps(options),
        "SAGEMAKER_BASE_DIR": str(folder),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
    }
    if ranks > 1:
        shared["SMTC_DISTRIBUTION"] = json.dumps({"data": ranks // shard, "shard": shard})
    if options.get("compiled"):
        shared["SMTC_COMPILER"] = TrainingCompilerConfig(backend="inductor").model_dump_json()
    number = len(list(folder.glob("*.log")))
    logs = [folder / f"{number}-rank{rank}.log" for rank in range(ranks)]
    own = [{**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(ranks)]
    codes = run_script_on_ranks(script, logs, variables=own, limit_s=200)
    found = []
    for log, code in zip(logs, codes, strict=True):
        text = log.read_text(encoding="utf-8")
        was_killed = options.get("kill_at") and (code == -signal.SIGKILL or ranks > 1)
        was_killed = was_killed or ("told_at" in options and code == -signal.SIGTERM)
        assert was_killed or not code, text[-2000:]
        found.append(None if code else json.loads(text[text.rindex("\n{") :]))
    return found


def killed_and_ended(folder: Path, seed: int, **options: Any) -> list[Any]:
    """Kill a training again and again; return what the attempt told that ended."""
    drawn, at = random.Random(seed), 0  # noqa: S311  no secret
    while (at := at + drawn.randint(2, 12)) < STEPS:
        kill_at = (at, drawn.random() * 0.01)
        if all(told := attempt(folder, kill_at=kill_at, **options)):
            return told  # the moment came after the last step
    return attempt(folder, **options)


def servers_of(serve: Callable[..., Any], count: int) -> dict[str, Any]:
    """Start data servers; return the option that names them."""
    started = [serve(secret=SECRET, name=f"algo-{2 + number}") for number in range(count)]
    return {"servers": [[one.address.host, one.address.port] for one in started]}


def check(kind: str, seeds: range, tmp_path: Path, serve: Callable[..., Any]) -> None:
    options = dict(KINDS[kind])
    num_servers = options.pop("served", 0)
    if num_servers:
        options |= servers_of(serve, num_servers)
    unbroken = attempt(tmp_path / "unbroken", **options)
    assert unbroken[0]["resumed"] == 0
    served_by = {name for one in unbroken for name in one["served_by"]}
    assert bool(served_by) == bool(num_servers)  # on a busy machine one may answer all
    assert len(unbroken[0]["losses"]) == STEPS
    for seed in seeds:
        found = killed_and_ended(tmp_path / f"killed-{seed}", seed, **options)
        assert all(one["resumed"] > 0 for one in found)
        # which servers answered is another thing: an attempt may make few steps
        for one in (*found, *unbroken):
            one["resumed"], one["served_by"] = 0, []
        assert found == unbroken


@pytest.mark.timeout(400)
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_training_is_the_unbroken_one(
    kind: str, tmp_path: Path, serve: Callable[..., Any]
) -> None:
    check(kind, range(1), tmp_path, serve)


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kind", KINDS)
def test_so_are_a_hundred(kind: str, tmp_path: Path, serve: Callable[..., Any]) -> None:
    check(kind, range(1, 101), tmp_path, serve)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "kind", ["2 data workers", "2 ranks", pytest.param("2 shards", marks=pytest.mark.soak)]
)
def test_a_training_that_is_told_before_loses_no_step(kind: str, tmp_path: Path) -> None:
    options = KINDS[kind]
    unbroken = attempt(tmp_path / "unbroken", **options)

    told = attempt(tmp_path / "told", told_at=17, step_s=0.05, **options)
    found = attempt(tmp_path / "told", **options)

    assert told == [None] * options.get("ranks", 1)
    first = {one["resumed"] for one in found}
    assert first == {17} if len(found) == 1 else len(first) == 1 and min(first) >= 19
    assert [{**one, "resumed": 0} for one in found] == unbroken


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)])
def test_another_number_of_trainers_goes_on_with_the_model(
    before: int, after: int, tmp_path: Path
) -> None:
    unbroken = attempt(tmp_path / "unbroken")
    attempt(tmp_path / "killed", ranks=before, kill_at=(16, 0.0), waits=True)

    found = attempt(tmp_path / "killed", ranks=after)

    assert [one["resumed"] for one in found] == [15] * after
    assert len(found[0]["losses"]) == STEPS
    assert found[0]["rate"] == unbroken[0]["rate"]
    assert len({one["state"] for one in found}) == 1
    # the rest of the epoch is read, and no sample of it twice
    samples = [[one["samples"][step] for one in found] for step in range(14, 21)]
    read = sorted(number for step in samples[1:] for of_rank in step for number in of_rank)
    assert len(set(read)) == len(read) == (6 * BATCH)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 0)])
def test_another_number_of_data_servers_changes_no_bit(
    before: int, after: int, tmp_path: Path, serve: Callable[..., Any]
) -> None:
    all_of_them = servers_of(serve, 2)["servers"]
    (unbroken,) = attempt(tmp_path / "unbroken", servers=all_of_them[:before])
    attempt(tmp_path / "killed", servers=all_of_them[:before], kill_at=(16, 0.0), waits=True)

    (found,) = attempt(tmp_path / "killed", servers=all_of_them[:after])

    assert found["resumed"] == 15
    for one in (found, unbroken):
        del one["resumed"], one["served_by"]
    assert found == unbroken


@pytest.mark.parametrize("torchs", [False, True])
def test_no_sample_is_read_again(
    torchs: bool,  # noqa: FBT001  a parameter
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempt(tmp_path / "killed", kill_at=(13, 0.0), waits=True, torchs=torchs)
    monkeypatch.setenv("READ", str(tmp_path / "read"))

    (found,) = attempt(tmp_path / "killed", torchs=torchs)

    read = (tmp_path / "read").read_text(encoding="utf-8").split()
    assert found["resumed"] == 12
    assert len(read) == (STEPS - 12) * BATCH


def test_passes_that_were_trained_take_no_step(tmp_path: Path) -> None:
    (first,) = attempt(tmp_path)

    (again,) = attempt(tmp_path)

    assert again["resumed"] == STEPS - STEPS % 3
    assert again.pop("resumed") != first.pop("resumed")
    assert again == first
    assert EPOCHS * 7 == STEPS


@pytest.mark.parametrize("damage", ["a bit", "half", "no mark"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(damage: str, tmp_path: Path) -> None:
    (unbroken,) = attempt(tmp_path / "unbroken")
    attempt(tmp_path / "killed", kill_at=(20, 0.0), waits=True)
    folder = tmp_path / "killed" / "checkpoints" / "resume" / "rank0"
    newest = max(folder.glob("*.pt"))
    kept = newest.read_bytes()
    if damage == "no mark":
        newest.with_suffix(".json").unlink()
    else:
        changed = bytearray(kept[: len(kept) // 2] if damage == "half" else kept)
        changed[len(changed) // 3] ^= 4
        newest.write_bytes(changed)

    (found,) = attempt(tmp_path / "killed")

    assert newest.name == "step-000000000018.pt"
    assert found.pop("resumed") == 15
    del unbroken["resumed"]
    assert found == unbroken


def test_a_damaged_checkpoint_of_one_of_two_trainers_takes_both_back(tmp_path: Path) -> None:
    unbroken = attempt(tmp_path / "unbroken", ranks=2)
    attempt(tmp_path / "killed", ranks=2, kill_at=(20, 0.0), waits=True)
    folders = [tmp_path / "killed/checkpoints/resume" / f"rank{rank}" for rank in range(2)]
    newest = [max(folder.glob("*.pt")) for folder in folders]
    newest[1].write_bytes(newest[1].read_bytes()[:-9])

    found = attempt(tmp_path / "killed", ranks=2)

    assert [path.name for path in newest] == ["step-000000000018.pt"] * 2
    assert [one.pop("resumed") for one in found] == [15, 15]
    for one in unbroken:
        del one["resumed"]
    assert found == unbroken
