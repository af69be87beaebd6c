from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.study.options.option_words import in_options

if TYPE_CHECKING:
    from collections.abc import Callable

    SmtcLab = Callable[..., Any]


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("distribution data=12, shard=4 asks for", "--data 12 --shard 4 asks for"),
        (
            "distribution.pipeline=2 with data=2, shard=1, tensor=None: these",
            "--pipeline 2 with --data 2 --shard 1: these",
        ),
        ("distribution auto asks for", "--data auto asks for"),
        ("distribution.microbatches=3, but", "--microbatches 3, but"),
        ("devices each (distribution shard=4). Give", "devices each (--shard 4). Give"),
        ("Add pipeline, or drop microbatches.", "Add --pipeline, or drop --microbatches."),
        ("Give the others role='data'.", "Give the others role='data'."),
    ],
)
def test_a_distribution_is_called_as_its_options_are(python: str, shell: str) -> None:
    assert in_options(python) == shell
