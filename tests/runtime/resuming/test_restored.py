"""From which step a script goes on that loads by itself what it saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import RunScript

SCRIPT = """
    import json, os, sys
    from pathlib import Path
    import torch

    folder = Path(os.environ["SAGEMAKER_BASE_DIR"], "checkpoints")
    folder.mkdir()
    torch.save(json.loads(sys.argv[1]), folder / "optimizer.pt")
    (folder / "trainer_state.json").write_text(sys.argv[2])
    torch.load(folder / "optimizer.pt")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.ones(3, 2)).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("saved", "beside", "expected"),
    [
        ('{"global_step": 4}', "{}", 4),
        ("{}", '{"global_step": 7}', 7),
        ("{}", '{"global_step": "x"}', 0),
        ("{}", "[", 0),
    ],
)
def test_a_file_tells_it_or_one_beside_it(
    run_warm: RunScript, saved: str, beside: str, expected: int
) -> None:
    ended = run_warm(SCRIPT, saved, beside, SMTC_ATTEMPT="2")

    assert [one.step for one in ended.steps] == [expected, expected + 1]
    begins = "goes on after step" if expected else "begins with the first step again"
    assert any(begins in one.message for one in ended.events)
