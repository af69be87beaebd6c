from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.memory.needs import MemoryNeeds
from smtc_lab.metrics.memory.offers import ClusterOffers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

SETUP = """
    import torch

    from beside import FEATURES


    def setup():
        model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), torch.nn.Linear(16, 1))
        batch = torch.zeros(8, FEATURES), torch.zeros(8, 1)
        return model, batch, torch.nn.functional.mse_loss


    def nothing():
        return None
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(textwrap.dedent(SETUP), encoding="utf-8")
    (tmp_path / "beside.py").write_text("FEATURES = 4\n", encoding="utf-8")
    return path


def test_the_memory_of_a_step_is_shown_and_written(smtc_lab: SmtcLab, script: Path) -> None:
    written = script.with_suffix(".json")
    said = smtc_lab("memory", f"{script}:setup", "--json", written)

    assert said.exit_code == 0, said.err
    needs = MemoryNeeds.model_validate_json(written.read_text(encoding="utf-8"))
    assert needs.batch_size == 8
    assert str(needs) in said.out


def test_the_cheapest_clusters_are_shown_and_written(smtc_lab: SmtcLab, script: Path) -> None:
    written = script.with_suffix(".json")
    said = smtc_lab(
        "memory",
        f"{script}:setup",
        "--cheapest",
        *("--global-batch-size", "32"),
        *("--utilization", "0.4"),
        *("--instance-types", "ml.g6.xlarge,ml.g6.12xlarge"),
        *("--max-instances", "2"),
        *("--json", written),
    )

    assert said.exit_code == 0, said.err
    told = json.loads(written.read_text(encoding="utf-8"))
    found = ClusterOffers.model_validate(told)
    assert found.global_batch_size == 32
    assert {one.instance_type for one in found.offers} == {"ml.g6.xlarge", "ml.g6.12xlarge"}
    assert str(found) in said.out
