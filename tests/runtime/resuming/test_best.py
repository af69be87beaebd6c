"""The best checkpoints of a training stay, and are gone back to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.resuming.best import BestCheckpoints
from tests.kit.warm_ranks import run_script_on_ranks

if TYPE_CHECKING:
    from pathlib import Path

BEST = """
import json, sys
import torch
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(1)
weight = torch.nn.Linear(1, 1, bias=False)
of = torch.utils.data.DataLoader if sys.argv[2] == "torch" else session.dataloader
loader = of(torch.ones(6, 1), batch_size=2)
kept = session.checkpoint(model=weight, every_steps=2, keep_last=1, keep_best=2)
found, best = [], []
for losses in json.loads(sys.argv[1]):
    for batch in session.steps(loader):
        with torch.no_grad():
            weight.weight.fill_(kept.step + 1)
    if losses is None:
        raise SystemExit
    best.append(kept.score(losses))
kept.close()
print(json.dumps([best, kept.restore_best(), float(weight.weight)]))
"""


@pytest.mark.parametrize("loader", ["torch", "ours"])
def test_the_best_ones_stay_over_attempts(loader: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(BEST, encoding="utf-8")
    variables = [{"SAGEMAKER_BASE_DIR": str(tmp_path)}]

    def told(losses: list[float | None]) -> list[str]:
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        arguments = [[json.dumps(losses), loader]]
        assert run_script_on_ranks(
            script, [log], variables=variables, arguments=arguments, limit_s=100
        ) == [0]
        return log.read_text(encoding="utf-8").splitlines()[-1:]

    told([5.0, 1.0, 3.0, None])
    again = told([5.0, 1.0, 3.0, 2.0, 4.0])

    assert json.loads(again[0]) == [[False, False, False, False, False], 6, 6.0]
    folder = tmp_path / "checkpoints" / "resume" / "rank0"
    left = [path.stem for path in sorted(folder.glob("*.json"))]
    assert left == [f"step-{step:012d}" for step in (6, 12, 15)]


def test_scores_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EntryPointError, match="keep_best=-1"):
        BestCheckpoints(tmp_path, count=-1, better="lowest")
    with pytest.raises(EntryPointError, match="best='max'"):
        BestCheckpoints(tmp_path, count=1, better="max")  # type: ignore[arg-type]
    with pytest.raises(EntryPointError, match="keeps no best ones"):
        BestCheckpoints(tmp_path, count=0, better="lowest").score(3, 1.0)
    with pytest.raises(EntryPointError, match="step 3 is not a number"):
        BestCheckpoints(tmp_path, count=1, better="greatest").score(3, float("nan"))
