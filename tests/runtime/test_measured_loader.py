"""The launches of a calibration as their trainer sees them: real scripts in real processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.planner.calibration.parts import GradientOrder

if TYPE_CHECKING:
    from tests.runtime.conftest import RunScript

DATA = """
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        made = 0
        def __len__(self):
            return 10**6  # no pass ends before enough was measured
        def __getitem__(self, index):
            Numbers.made += 1
            return torch.full((2,), float(index))

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    seen = set()

    def step(batch):
        seen.add((len(batch), batch[0, 0].item()))
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
PLAIN = (
    DATA
    + """
    try:
        for epoch in range(10**9):
            for batch in DataLoader(Numbers(), batch_size=4):
                step(batch)
    finally:
        print("made", Numbers.made, "seen", sorted(seen))
"""
)
SESSION = (
    DATA
    + """
    import smtc_lab as lab
    session = lab.Session()
    loader = session.dataloader(Numbers(), batch_size=4)
    try:
        for batch in session.steps(loader, epochs=None):
            step(batch)
    finally:
        print("made", Numbers.made, "seen", sorted(seen))
"""
)


def measure(what: str, *, batch_size: int | None = None) -> dict[str, str]:
    text = json.dumps({"what": what, "seconds": 0.25, "batch_size": batch_size})
    return {"SMTC_MEASURE": text, "SMTC_NUM_LOADER_WORKERS": "0"}


@pytest.mark.parametrize("script", [PLAIN, SESSION], ids=["plain", "session"])
def test_the_first_batch_is_resident_until_enough_was_measured(
    run_warm: RunScript, script: str
) -> None:
    ended = run_warm(script, **measure("resident", batch_size=2))

    assert "made 2 seen [(2, 0.0)]" in ended.printed
    assert len(ended.steps) >= 12
    assert {one.num_samples for one in ended.steps} == {2}
    found = notes(ended)
    assert found.pop("script_num_workers", None) == (0 if script == PLAIN else None)
    assert found == {"gradient_bytes": 12, "loader_batch_size": 2}


@pytest.mark.parametrize("script", [PLAIN, SESSION], ids=["plain", "session"])
def test_the_loader_alone_runs_without_the_script(run_warm: RunScript, script: str) -> None:
    ended = run_warm(script, **measure("loader"))

    assert "seen []" in ended.printed
    assert len(ended.steps) >= 12
    assert {one.num_samples for one in ended.steps} == {4}
    found = notes(ended)
    found.pop("script_num_workers", None)
    assert set(found) == {"thread_s_per_step"}
    assert 0 < found["thread_s_per_step"] < max(one.step_time_s for one in ended.steps)


def test_the_scripts_own_data_workers_are_written_down_whatever_a_launch_has(
    run_warm: RunScript,
) -> None:
    own = PLAIN.replace("batch_size=4", "batch_size=4, num_workers=3")

    ended = run_warm(own, **measure("resident"))

    assert notes(ended)["script_num_workers"] == 3


def test_a_whole_run_is_the_script_as_it_is_but_for_its_end(run_warm: RunScript) -> None:
    ended = run_warm(PLAIN, **measure("run"))

    assert "(4, 0.0), (4, 4.0), (4, 8.0)" in ended.printed
    assert len(ended.steps) >= 12


def test_a_resident_batch_does_not_make_a_pass_longer(run_warm: RunScript) -> None:
    once = PLAIN.replace("range(10**9)", "range(2)").replace("return 10**6", "return 20")

    ended = run_warm(once, **measure("resident"))

    assert len(ended.steps) == 10


def test_a_loader_that_has_no_batch_alone_says_so(run_warm: RunScript) -> None:
    ended = run_warm(
        PLAIN.replace("batch_size=4", "batch_size=10**7, drop_last=True"),
        code=1,
        **measure("loader"),
    )

    assert "The dataloader had no batch" in ended.errors


def test_gradients_are_written_down_in_the_order_in_which_they_are_ready(
    run_warm: RunScript,
) -> None:
    two_layers = PLAIN.replace(
        "torch.nn.Linear(2, 1)",
        "torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Linear(8, 1))",
    )

    ended = run_warm(two_layers, **measure("resident"))

    path = ended.folder.opt_ml("algo-1") / "output" / "data" / "gradients.json"
    seen = GradientOrder.model_validate_json(path.read_text(encoding="utf-8"))
    assert sorted(seen.nbytes) == [4, 32, 32, 64]
    assert set(seen.nbytes[:2]) == {4, 32}  # those of the last layer are ready first
    assert 0 < seen.begin_fraction <= seen.ready_fraction[0] < seen.ready_fraction[-1] < 1


def notes(ended: Any) -> dict[str, float]:
    path = ended.folder.opt_ml("algo-1") / "output" / "data" / "measured.json"
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return found
