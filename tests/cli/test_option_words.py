from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.cli.option_words import in_options
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("distribution data=12, shard=4 asks for", "--data 12 --shard 4 asks for"),
        (
            "distribution.pipeline=2 with data=2, shard=1, reduce_on=None: these",
            "--pipeline 2 with --data 2 --shard 1: these",
        ),
        ("distribution auto asks for", "--data auto asks for"),
        ("distribution.microbatches=3, but", "--microbatches 3, but"),
        ("devices each (distribution shard=4). Give", "devices each (--shard 4). Give"),
        ("reduce_on='data_group' brings nothing", "--reduce-on data_group brings nothing"),
        ("Add pipeline, or drop microbatches.", "Add --pipeline, or drop --microbatches."),
        ("Give the others role='data'.", "Give the others role='data'."),
    ],
)
def test_a_distribution_is_called_as_its_options_are(python: str, shell: str) -> None:
    assert in_options(python) == shell


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--data", "2"),
            (
                "--data 2 asks for 2 trainers, but there is 1 trainer on 1 x "
                "ml.p3.2xlarge; the processes 2 cannot be larger than the device count 1. "
                "Write --data 1."
            ),
        ),
        (
            ("--microbatches", "4"),
            (
                "--microbatches 4, but there is no pipeline that they go through. Add "
                "--pipeline, or drop --microbatches; where a pipeline is compared with none, "
                "name those of the pipeline alone."
            ),
        ),
    ],
)
def test_a_refusal_names_options_and_counts_in_words(
    smtc_lab: SmtcLab, home: Path, options: tuple[str, ...], said: str
) -> None:
    (home / "train.py").write_text(QUICK_SCRIPT, encoding="utf-8")

    refused = smtc_lab("compare", "--cluster", "g=ml.p3.2xlarge:1", *options, home / "train.py")

    assert refused.exit_code == 2
    assert refused.err == f"Refused: {said}\n"


def test_a_parity_check_of_one_device_names_the_option(smtc_lab: SmtcLab, home: Path) -> None:
    (home / "train.py").write_text(QUICK_SCRIPT, encoding="utf-8")

    refused = smtc_lab(
        *("scale", "--cluster", "g=ml.p3.2xlarge:1", "--devices", "1", "--parity"),
        home / "train.py",
    )

    assert refused.exit_code == 2
    assert "1 device has one trainer, so there is nothing to compare" in refused.err
    assert "the study more devices (devices=, --devices)" in refused.err
