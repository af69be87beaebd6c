"""Whether a script goes on after it is killed is found out by killing it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.fingerprints import AFTER, BEFORE, BETWEEN, FingerprintRecord
from smtc_lab.spec.cluster import Cluster
from smtc_lab.store.writer import RecordWriter
from smtc_lab.study.resuming.compared_steps import (
    TrainerFingerprints,
    first_difference,
    random_drift,
    step_found,
)
from smtc_lab.study.resuming.prove import made_steps, prove_resume
from tests.kit.records import step_record

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import os, time, weakref
import torch
from torch import nn

torch.manual_seed(0)
gone = weakref.proxy(type("Gone", (), {})())  # as dynamo leaves some
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
data = torch.randn(160, 8, generator=torch.Generator().manual_seed(1))
kept, first = os.path.join(os.environ["SM_CHECKPOINT_DIR"], "last.pt"), 0
if os.path.exists(kept):
    found = torch.load(kept)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    torch.set_rng_state(found["random"])
    first = found["epoch"]
for epoch in range(first, 4):
    order = torch.Generator().manual_seed(epoch)
    for batch in torch.utils.data.DataLoader(data, 16, shuffle=True, generator=order):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.05)  # steps that can be interrupted
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "random": torch.get_rng_state(), "epoch": epoch + 1}, kept + ".new")
    os.replace(kept + ".new", kept)
"""

TELLS_THE_TIME = """
import os, time
for folder, text in (("SM_MODEL_DIR", "the same"), ("SM_OUTPUT_DATA_DIR", str(time.time()))):
    with open(os.path.join(os.environ[folder], "begun.txt"), "w") as file:
        file.write(text)
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ("", None),
        ('    torch.set_rng_state(found["random"])\n', "random"),
        ('    optimizer.load_state_dict(found["optimizer"])\n', "loaded optimizer"),
    ],
)
def test_a_script_that_saves_by_itself_is_judged(
    tmp_path: Path, left_out: str, expected: str | None
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace(left_out, "") if left_out else SCRIPT)
    proof = prove_resume(script, interruptions=1, seed=4, root=tmp_path / "runs")

    found = proof.first_difference
    assert proof.interrupted_at[0] > 10  # behind the first file that it saved
    assert (None if found is None else found.what) == expected
    assert proof.equal is (expected is None)
    assert proof.went_on_from[0] % 10 == 0
    assert proof.went_on_from[0] > 0
    assert ("Equal: killed once" if proof.equal else "This would mend it") in proof.verdict


@pytest.mark.timeout(200)
def test_an_optimizer_that_counts_nothing_is_placed_by_when_it_saved(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TELLS_THE_TIME + SCRIPT.replace("optim.AdamW", "optim.SGD"))
    runs = tmp_path / "runs"
    proof = prove_resume(script, interruptions=1, seed=4, root=runs, max_steps=35)

    assert proof.equal, proof.verdict  # its steps are those of both attempts
    assert proof.steps == 35
    assert proof.went_on_from[0] in {10, 20, 30}
    assert proof.unlike_files == ("output/data/begun.txt",)
    assert "Beside the training: output/data/begun.txt differs" in proof.verdict


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("trainers", "cluster"),
    [(2, "trainers=local:1"), (1, "trainers=local:1:train,data_group=local:1:data")],
)
def test_a_session_is_proved(tmp_path: Path, trainers: int, cluster: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """
            import time
            import torch
            import smtc_lab

            session = smtc_lab.Session()
            torch.manual_seed(1)
            model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 1))
            optimizer = torch.optim.Adam(model.parameters())
            model, optimizer = session.prepare(model, optimizer)
            class Noisy(torch.utils.data.TensorDataset):
                def __getitem__(self, index):
                    return (super().__getitem__(index)[0] + 0.1 * torch.rand(4),)
            data = Noisy(torch.randn(160, 4))
            loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
            session.checkpoint(model=model, optimizer=optimizer, every_steps=4)
            for (batch,) in session.steps(loader, epochs=2):
                loss = model(batch).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                time.sleep(0.05)
            """
        )
    )
    proof = prove_resume(
        script,
        interruptions=2,
        root=tmp_path / "runs",
        distribution={"data": trainers},
        cluster=Cluster.parse(cluster),
    )

    assert proof.equal, proof.verdict
    assert (proof.ranks, len(proof.interrupted_at)) == (trainers, 2)


DONE_SOON = """
import os
from pathlib import Path
from threading import Event
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
kept, step = Path(os.environ["SM_CHECKPOINT_DIR"], "last.pt"), 0
if was_there := kept.exists():
    found = torch.load(kept)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    step = found["step"]
while step < 9:
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    step += 1
torch.save(
    {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, kept)
if not was_there:
    Event().wait(3)  # that is killed here
"""


IN_PARTS = """
import torch
from torch import nn
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(3)
blocks = [
    nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True) for _ in range(2)
]
model = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(80, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer = session.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(64, 5, 16), torch.arange(64) % 4)
loader = session.dataloader(data, batch_size=8, shuffle=True)
session.checkpoint(model=model, optimizer=optimizer, every_steps=2)
for inputs, targets in session.steps(loader, epochs=2):
    optimizer.zero_grad()
    session.step(inputs, targets, nn.functional.cross_entropy)
    optimizer.step()
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize("distribution", [{"tensor": 2}, {"pipeline": 2, "shard": 2}])
def test_a_model_in_parts_is_proved(tmp_path: Path, distribution: dict[str, int]) -> None:
    script = tmp_path / "train.py"
    script.write_text(IN_PARTS)
    proof = prove_resume(
        script, interruptions=2, root=tmp_path / "runs", distribution=distribution
    )

    assert proof.equal, proof.verdict
    assert len(proof.interrupted_at) == 2
    assert proof.went_on_from[-1] > 0


def record(step: int, moment: str = AFTER, **changed: str) -> FingerprintRecord:
    names = ("batch", "random", "rate", "parameters", "buffers", "optimizer")
    values = {name: f"{name}{step}{moment == BEFORE}" for name in names}
    if moment == BEFORE:  # what the step before left behind
        values |= {name: f"{name}{step - 1}False" for name in ("parameters", "optimizer")}
    digits = {"tensors": "aaaabbbb"}
    return FingerprintRecord(step=step, moment=moment, **{**values, **digits, **changed})


WHOLE = TrainerFingerprints(
    records=[record(0, BEFORE), *(record(step) for step in range(6))], names=("one", "two")
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, None),
        ({3: {"batch": "other", "parameters": "other"}}, ("batch", 3, ())),
        ({4: {"random": "other", "parameters": "other"}}, ("random", 4, ())),
        ({3: {"rate": "other", "optimizer": "other"}}, ("rate", 3, ())),
        (
            {3: {"parameters": "other", "tensors": "aaaacccc"}},
            ("weights", 3, ("two",)),
        ),
        ({5: {"buffers": "other", "tensors": "ccccbbbb"}}, ("weights", 5, ("one",))),
        ({3: {"optimizer": "other"}}, ("optimizer", 3, ())),
    ],
)
def test_the_first_cause_is_named(changed: dict[int, Any], expected: object) -> None:
    records = [record(step, **changed.get(step, {})) for step in range(6)]
    found = first_difference(
        WHOLE,
        TrainerFingerprints(records=[record(0, BEFORE), record(3, BEFORE), *records]),
        rank=0,
    )

    assert (found and (found.what, found.step, found.tensors)) == expected


def test_what_an_attempt_begins_with_is_told_before_what_it_makes() -> None:
    begins = record(3, BEFORE, optimizer="empty")
    rows = [record(step, **({"parameters": "other"} if step > 2 else {})) for step in range(6)]
    found = first_difference(WHOLE, TrainerFingerprints(records=[begins, *rows]), rank=1)

    assert found is not None
    assert (found.what, found.step, found.rank) == ("loaded optimizer", 3, 1)


@pytest.mark.parametrize(
    ("batch_of", "optimizer", "went_on"),
    [(3, "optimizer2False", True), (4, "optimizer2False", False), (3, "empty", False)],
)
def test_an_epoch_that_is_drawn_anew_went_on_all_the_same(
    batch_of: int, optimizer: str, *, went_on: bool
) -> None:
    begins = record(3, BEFORE, optimizer=optimizer)
    other: dict[int, Any] = {batch_of: {"batch": "other", "parameters": "other"}}
    rows = [record(step, **other.get(step, {})) for step in range(6)]
    found = first_difference(WHOLE, TrainerFingerprints(records=[begins, *rows]), rank=0)

    assert found is not None
    assert found.went_on is went_on


def test_too_few_and_too_many_steps_are_told() -> None:
    for count in (5, 7):
        rows = [record(step) for step in range(count)]
        found = first_difference(WHOLE, TrainerFingerprints(records=rows), rank=0)
        assert found is not None
        assert found.what == "steps"


def test_a_script_that_numbers_from_0_is_found_by_what_it_loaded() -> None:
    begins = record(0, BEFORE, parameters="parameters3False", optimizer="optimizer3False")
    rows = [
        FingerprintRecord(**{**vars_of(record(step + 4)), "step": step}) for step in range(2)
    ]
    resumed = TrainerFingerprints(records=[begins, *rows])

    assert step_found(WHOLE, resumed) == 4
    assert first_difference(WHOLE, resumed, rank=0) is None
    unknown = TrainerFingerprints(records=[record(0, BEFORE, parameters="none")])
    assert step_found(WHOLE, unknown) is None


def test_batches_that_a_loader_draws_ahead_are_the_same_samples() -> None:
    drawn = ["one two", "three", "four", "five", "", "six"]
    whole = [record(step, batch=drawn[step]) for step in range(6)]
    unbroken = TrainerFingerprints(records=[record(0, BEFORE), *whole])

    def resumed(batches: str) -> Any:
        rows = [record(step, batch=batches if step == 2 else drawn[step]) for step in range(6)]
        taken = TrainerFingerprints(records=[record(2, BEFORE), *rows])
        return first_difference(unbroken, taken, rank=0)

    assert resumed("three four") is None
    assert resumed("+all two three four") is None
    for others in ("one four", "four three", "three", ""):
        assert resumed(others).what == "batch"


def test_what_other_optimizers_do_after_a_recorded_step_is_known() -> None:
    rows = [record(step) for step in range(6)]
    later = {step: f"later{step}" for step in range(1, 6)}
    between = [record(step, BETWEEN, parameters=later[step]) for step in later]
    unbroken = TrainerFingerprints(records=[record(0, BEFORE), *between, *rows])
    rows[3] = record(3, parameters="other")

    def found(loaded: str) -> str:
        begins = record(3, BEFORE, parameters=loaded, optimizer=between[2].optimizer)
        resumed = TrainerFingerprints(records=[begins, *rows])
        difference = first_difference(unbroken, resumed, rank=0)
        return difference.what if difference else ""

    assert found("later3") == "weights"
    assert found("parameters2False") == "loaded weights"


def test_random_numbers_that_change_nothing_are_no_difference() -> None:
    changed: dict[int, Any] = {step: {"random": "other"} for step in (3, 4)}

    def resumed(**last: str) -> TrainerFingerprints:
        rows = [record(step, **changed.get(step, {})) for step in range(5)]
        return TrainerFingerprints(records=[record(3, BEFORE), *rows, record(5, **last)])

    assert first_difference(WHOLE, resumed(), rank=0) is None
    assert random_drift(WHOLE, resumed()) == 3
    assert random_drift(WHOLE, WHOLE) is None
    found = first_difference(WHOLE, resumed(random="other", batch="other"), rank=0)
    assert found is not None
    assert (found.what, found.step) == ("random", 3)


def vars_of(one: FingerprintRecord) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def test_a_kill_behind_the_last_step_interrupts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "algo-1-rank0.sqlite"
    writer = RecordWriter(file)
    writer.append(AttemptRecord(attempt=2, time_s=5.0, first_step=2))
    for step in range(4):
        writer.append(step_record(step=step, end_time_s=2.0 + 2 * step))
    writer.append(AttemptRecord(attempt=3, time_s=9.0, first_step=4))
    writer.close()

    assert [one.attempt for one in made_steps(file)] == [2]


@pytest.mark.timeout(100)
def test_a_script_that_is_killed_when_it_is_done_proves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(DONE_SOON)
    proof = prove_resume(script, interruptions=1, seed=9, root=tmp_path / "runs")

    assert not proof.was_killed
    assert not proof.began_anew
    assert proof.verdict.startswith("It was not killed in time")


@pytest.mark.parametrize("interruptions", [0, 101])
def test_numbers_out_of_range_are_refused(tmp_path: Path, interruptions: int) -> None:
    with pytest.raises(SpecError, match="outside 1 to 100"):
        prove_resume(tmp_path / "train.py", interruptions=interruptions)
