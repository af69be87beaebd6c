from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.batch.batch_sizes import BatchSizes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

FOUR_SAMPLES = """
    import sys
    from smtc_lab.runtime.instance_runtime import instance_runtime

    batch_size = int(sys.argv[sys.argv.index("--batch-size") + 1])
    timer = instance_runtime().timer
    while not timer.is_done:
        timer.ask()
        timer.got(min(batch_size, 4))
        timer.end()
"""


@pytest.fixture
def script(home: Path) -> Path:
    path = home / "train.py"
    path.write_text(textwrap.dedent(FOUR_SAMPLES), encoding="utf-8")
    return path


def test_the_largest_batch_is_found_shown_and_written(
    smtc_lab: SmtcLab, home: Path, script: Path
) -> None:
    said = smtc_lab(
        *("batch-size", "--compiler", "eager", "--name", "batch-size", "--start", "4"),
        *("--steps", "4", "--learning-rate", "1e-3@1", "--optimizer", "SGD"),
        *("--weight-decay", "0.1", "--like", "gpt2", "--memory-limit", "2GB"),
        *("--json", home / "sizes.json", "--figure", home / "sizes.svg", script),
    )

    assert said.exit_code == 0, said.err
    sizes = BatchSizes.model_validate_json((home / "sizes.json").read_bytes())
    assert sizes.backends[0].largest == 4
    assert sizes.memory_limit_bytes == 2 * 10**9
    assert "eager: batch size 4 fits" in said.err
    assert "eager: batch size 8 was not full: a step had 4 samples at most" in said.err
    assert "eager: the largest batch that fits is 4" in said.out
    assert "Batch 4: try learning rate 0.004, weight decay 0.025" in said.out
    assert "gpt2, Hugging Face 4.11, PyTorch 1.9.0, ml.p3.2xlarge" in said.out
    assert (home / "sizes.svg").read_bytes().lstrip().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("4GB", 4 * 10**9), ("3.5GiB", 7 * 2**29), ("512 MB", 512 * 10**6), ("1000", 1000)],
)
def test_sizes_are_decimal_or_binary_as_their_unit_says(text: str, size_bytes: int) -> None:
    from smtc_lab.cli.batch_size import _bytes

    assert _bytes(text) == size_bytes
