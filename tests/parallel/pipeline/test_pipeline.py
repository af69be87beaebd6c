"""Real ranks on gloo train the model of one process, whatever the schedule."""

# ruff: noqa: E501  sentences are checked as users read them

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.parallel.pipeline.schedules import SCHEDULES
from tests.parallel.conftest import start_ranks
from tests.parallel.pipeline.models import MODELS, OF_TRANSFORMERS, ROUTED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.timeout(300)
"""The first test of each number of ranks waits for all of its cases."""

OTHERS = ("1f1b", "zbvzerobubble")
CASES = {
    2: [
        *(("language", schedule) for schedule in SCHEDULES),
        *((name, schedule) for name in MODELS for schedule in OTHERS if name != "language"),
        *(
            (name, schedule)
            for name in OF_TRANSFORMERS
            for schedule in OTHERS
            if name != ROUTED
        ),
    ],
    4: [
        *(("language", schedule) for schedule in SCHEDULES),
        ("T5", "interleavedzerobubble"),
        ("U-net", "1f1b"),
    ],
}

PRELUDE = "import json, logging\nlogging.disable(logging.CRITICAL)\n"
"""A session would take part in none of this."""

BODY = """
from tests.parallel.pipeline.ranks import compare
said = {}
for name, schedule in CASES:
    said[f"{name} {schedule}"] = compare(name, schedule, steps=STEPS)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], list[Any]]:
    """Return a function that runs all cases of a number of ranks, once."""
    pytest.importorskip("transformers")
    found: dict[int, list[Any]] = {}

    def run(ranks: int) -> list[Any]:
        if ranks not in found:
            folder: Path = tmp_path_factory.mktemp("ranks")
            body = f"CASES, STEPS = {CASES[ranks]!r}, {4 // ranks}\n{BODY}"
            found[ranks] = start_ranks(
                body, prelude=PRELUDE, data=ranks, folder=folder, limit_s=280
            )
        return found[ranks]

    return run


@pytest.mark.parametrize(
    ("ranks", "name", "schedule"), [(ranks, *case) for ranks in CASES for case in CASES[ranks]]
)
def test_a_pipeline_trains_the_model_of_one_process(
    ranks: int, name: str, schedule: str, compared: Callable[[int], list[Any]]
) -> None:
    said = [one[f"{name} {schedule}"] for one in compared(ranks)]

    for one in said:
        assert one["gradient"] < 1e-6
        assert one["worst"] < 1e-5
        assert one["loss"] < 1e-6
        assert one["norm"] < 1e-6
        assert one["is_own"]
        assert one["is_same_optimizer"]
        assert one["held"] < one["whole"]
    assert sum(one["held"] for one in said) >= said[0]["whole"]
    # a state as of one process, on the first rank; nothing on the others
    assert said[0]["state"] < 1e-5
    assert [one["state"] for one in said[1:]] == [0] * (ranks - 1)


def test_a_state_is_loaded_into_another_schedule_before_and_after_the_first_batch(
    tmp_path: Path,
) -> None:
    body = """
from tests.parallel.pipeline.ranks import carry_on
print(json.dumps(carry_on("language", "1f1b", "dualpipev")))
"""

    for said in start_ranks(body, prelude=PRELUDE, data=2, folder=tmp_path):
        assert said["losses"] == pytest.approx(said["right"] * 2, rel=1e-5)


REFUSED: dict[str, tuple[str, str]] = {
    "few microbatches": (
        "refused('language', '1f1b', microbatches=1)",
        (
            "microbatches=1, but 1F1B over 2 trainers needs at least 2: with fewer, trainers would "
            "wait for each other without end. Take 2 or more, of a batch that has as many samples, "
            "or fewer trainers."
        ),
    ),
    "few for DualPipeV": (
        "refused('language', 'dualpipev', microbatches=2)",
        (
            "microbatches=2, but DualPipeV over 4 stages needs at least 4: with fewer, trainers "
            "would wait for each other without end. Take 4 or more, of a batch that has as many "
            "samples, or fewer trainers."
        ),
    ),
    "odd rounds": (
        "refused('language', 'interleaved1f1b', microbatches=5)",
        (
            "microbatches=5 do not divide into the 2 rounds of Interleaved1F1B over 2 trainers. "
            "Take 4, or another multiple of 2."
        ),
    ),
    "unknown": (
        "refused('language', 'zigzag')",
        f"The schedule 'zigzag' is not known. Take one of {', '.join(SCHEDULES)}.",
    ),
    "stages per rank": (
        "refused('language', 'gpipe', stages_per_rank=2)",
        (
            "GPipe with stages_per_rank=2: this schedule has 1 on each rank. Leave it out, or take "
            "another schedule."
        ),
    ),
    "batch": (
        "refused('language', '1f1b', microbatches=3)",
        (
            "A batch of 8 samples cannot be divided into 3 equal microbatches, and unequal ones "
            "would not average to the batch's gradient. Take a divisor, and drop_last=True for the "
            "last batch."
        ),
    ),
    "length": (
        "refused('language', '1f1b', batches=[words(), tuple(one[:, :4] for one in words())])",
        (
            "A microbatch has shape (1, 4) of int64 where the first one had shape (1, 6) of int64, "
            "but the stages of a pipeline send tensors of fixed shapes. Pad each batch to one "
            "length, and drop the last one where it is smaller."
        ),
    ),
    "many stages": (
        "refused('language', 'interleaved1f1b', stages_per_rank=99)",
        (
            "The pipeline has 198 stages, but the model is a sequence of 42 modules. Take at most "
            "42 stages."
        ),
    ),
    "memory": (
        "refused('language', '1f1b', limit_bytes=100_000)",
        "No cut into 2 stages fits 100,000 bytes: stage ",
    ),
    "no loss": (
        "refused('no loss', '1f1b')",
        (
            "The model returned a Tensor without a loss. Give a loss function (loss_fn), or the "
            "model its labels."
        ),
    ),
    "function": (
        "refused('function', 'zbvzerobubble')",
        (
            "The model has a torch.autograd.Function, and ZBVZeroBubble computes gradients of "
            "weights apart from those of inputs, which such a function cannot. Take 1f1b or "
            "interleaved1f1b."
        ),
    ),
    "hidden": (
        "refused('hidden', '1f1b')",
        (
            "0 (Object) hands tensors to later modules that are not in what it returns, so the "
            "model can be cut into 1 stages, and not into 2. Return them as tensors, in a tuple or "
            "a dict."
        ),
    ),
    "meta": (
        "refused('meta', '1f1b')",
        (
            "The parameter 0.weight is on the meta device and has no values. Give the model on the "
            "CPU: what other stages need is freed here."
        ),
    ),
}


def test_what_cannot_be_is_refused_on_all_ranks_with_what_to_do(tmp_path: Path) -> None:
    calls = ", ".join(f"{name!r}: {call}" for name, (call, _) in REFUSED.items())
    body = f"""
from tests.parallel.pipeline.models import words, MODELS
from tests.parallel.pipeline.ranks import refused
import tests.parallel.pipeline.odd_models
print(json.dumps({{{calls}}}))
"""

    first, second = start_ranks(body, prelude=PRELUDE, data=2, folder=tmp_path)

    assert first == second
    for name, (_, sentence) in REFUSED.items():
        assert first[name].startswith(sentence), (name, first[name])
    assert json.dumps(first).count("nothing") == 0
