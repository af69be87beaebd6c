from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.scaling.scaling import Scaling
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

ALONE = "dnn_group=ml.p3.2xlarge:1"


def test_a_script_is_scaled_and_the_study_can_be_looked_at(
    smtc_lab: SmtcLab, home: Path
) -> None:
    (home / "train.py").write_text(QUICK_SCRIPT, encoding="utf-8")

    said = smtc_lab(
        *("scale", "--cluster", ALONE, "--devices", "2,1", "--rounds", "2", "--steps", "20"),
        *("--reduce-on", "auto", "--link", "between=1Gbit/100us", "--scale", "0.005"),
        *("--samples-per-epoch", "1000", "--bound", "0.4"),
        *("--json", home / "scaling.json", "--figure", home / "scaling.svg"),
        home / "train.py",
    )

    assert said.exit_code == 0, said.err
    scaling = Scaling.from_json((home / "scaling.json").read_bytes())
    assert [point.devices for point in scaling.curves[0].points] == [1, 2]
    assert (scaling.bound, scaling.samples_per_epoch) == (0.4, 1000)
    assert scaling.verdict in said.out
    assert "weak efficiency" in said.out
    assert "$/epoch" in said.out
    assert (home / "scaling.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "launch 4 of 4" in said.err
    study, *runs = json.loads(smtc_lab("runs", "--json").out)
    assert (study["kind"], study["state"], len(runs)) == ("scaling", "Completed", 4)
    assert scaling.verdict in smtc_lab("runs", "show", study["job_name"]).out
    assert scaling.comparison.declared_link == "between=1Gbit/100us"
    shown = smtc_lab("runs", "show", runs[0]["job_name"]).out
    assert "network between=1Gbit/100us" in shown


def test_all_that_is_wrong_is_refused_before_anything_starts(
    smtc_lab: SmtcLab, home: Path
) -> None:
    (home / "train.py").write_text("pass", encoding="utf-8")

    words = smtc_lab("scale", "--cluster", ALONE, "--devices", "one", home / "train.py")
    odd = smtc_lab(
        "scale", "--cluster", "g=ml.p3.8xlarge:1", "--devices", "1,6", home / "train.py"
    )

    link = smtc_lab("scale", "--cluster", ALONE, "--link", "between=1", home / "train.py")

    assert (words.exit_code, odd.exit_code, link.exit_code) == (2, 2, 2)
    assert "--link: Emulation.link='between=1': between has '1' where a bandwidth" in link.err
    assert "--devices 'one' are no whole numbers" in words.err
    assert "6 devices are no whole number of ml.p3.8xlarge" in odd.err
