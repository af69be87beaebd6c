"""Ranks that share layers train the model of one process, and save it."""

# ruff: noqa: E501  sentences are checked as users read them

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.parallel.conftest import start_ranks
from tests.parallel.tensor.models import MODELS, OF_TRANSFORMERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.timeout(300)
"""The first test waits for all of its cases."""

PRELUDE = "import json, logging\nlogging.disable(logging.CRITICAL)\n"
"""A session would take part in none of this."""

CASES = {2: [*MODELS, *OF_TRANSFORMERS], 4: ["encoder", "GPT-2"]}

BODY = """
from tests.parallel.tensor.ranks import compare
print(json.dumps({name: compare(name) for name in CASES}))
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], list[Any]]:
    """Return a function that runs all cases of a number of ranks, once."""
    pytest.importorskip("transformers")
    found: dict[int, list[Any]] = {}

    def run(ranks: int) -> list[Any]:
        if ranks not in found:
            folder: Path = tmp_path_factory.mktemp("ranks")
            body = f"CASES = {CASES[ranks]!r}\n{BODY}"
            found[ranks] = start_ranks(
                body, prelude=PRELUDE, data=ranks, folder=folder, limit_s=280
            )
        return found[ranks]

    return run


@pytest.mark.parametrize(
    ("ranks", "name"), [(ranks, name) for ranks in CASES for name in CASES[ranks]]
)
def test_ranks_that_share_layers_train_the_model_of_one_process(
    ranks: int, name: str, compared: Callable[[int], list[Any]]
) -> None:
    said = [one[name] for one in compared(ranks)]

    for one in said:
        assert one["loss"] < 1e-5
        assert one["gradient"] < 1e-5
        assert one["norm"] < 1e-5
        assert one["evaluated"] < 1e-5
        assert one["held"] == one["expected"]
        # of Mixtral the attention alone, since its experts are not known
        assert one["share"] > (0.05 if name == "Mixtral" else 0.25)
    assert said[0]["state"] < 1e-5
    assert [one["state"] for one in said[1:]] == [0] * (ranks - 1)


def test_what_one_process_saved_is_loaded_exactly_and_trained_on(tmp_path: Path) -> None:
    body = """
from tests.parallel.tensor.ranks import carry_on
print(json.dumps({name: carry_on(name) for name in ("encoder", "sequence")}))
"""

    for said in start_ranks(body, prelude=PRELUDE, data=2, folder=tmp_path):
        for one in said.values():
            assert one["exact"] == 0
            assert one["after"] < 1e-5


REFUSED: dict[str, tuple[str, str]] = {
    "unknown": (
        "refused(SmallModel())",
        (
            "tensor=2 divides layers of blocks that are known, and SmallModel has none of a size that 2 trainers can share: layers.0 (Layer). Known are nn.MultiheadAttention; nn.TransformerEncoderLayer and nn.TransformerDecoderLayer; Linear, activation, Linear in nn.Sequential; attention of BERT"
        ),
    ),
    "heads": (
        "refused(nn.TransformerEncoderLayer(15, 3, 8))",
        (
            "The model has 3 heads in self_attn, which tensor=2 trainers cannot share evenly. Take shard in place of tensor."
        ),
    ),
    "rows": (
        "refused(nn.TransformerEncoderLayer(16, 2, 7))",
        "The model has 7 rows in dimension 0 of linear1.weight, which tensor=2",
    ),
    "tied": (
        "refused(tied())",
        (
            "The parameter 0.weight is tied to another module's, so tensor=2 trainers cannot have parts of it. Untie it, or take shard in place of tensor."
        ),
    ),
    "keys of another width": (
        "refused(nn.MultiheadAttention(8, 2, kdim=4))",
        "MultiheadAttention (MultiheadAttention) has kdim, vdim or add_bias_kv, which tensor=2",
    ),
    "an optimizer of whole parameters": (
        "refused(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)), torch.optim.LBFGS)",
        "LBFGS looks at whole parameters, but with tensor=2 each trainer has a part of them.",
    ),
    "meta": (
        "refused(nn.Linear(4, 4, device='meta'))",
        "The parameter weight is on the meta device and has no values.",
    ),
}


def test_what_cannot_be_divided_is_refused_on_all_ranks_with_what_to_do(tmp_path: Path) -> None:
    calls = ", ".join(f"{name!r}: {call}" for name, (call, _) in REFUSED.items())
    body = f"""
import torch
from torch import nn
from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.tensor.parts import divide
from tests.parallel.small_model import SmallModel
from tests.parallel.tensor.ranks import join

def tied():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.Embedding(4, 4))
    model[3].weight = model[0].weight
    return model

def refused(model, kind=torch.optim.SGD):
    join()
    try:
        divide(model, kind(model.parameters(), lr=1.0), torch.distributed.group.WORLD)
    except EntryPointError as error:
        return str(error)
    return "nothing"

print(json.dumps({{{calls}}}))
"""

    first, second = start_ranks(body, prelude=PRELUDE, data=2, folder=tmp_path)

    assert first == second
    for name, (_, sentence) in REFUSED.items():
        assert first[name].startswith(sentence), (name, first[name])
