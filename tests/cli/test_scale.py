from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.scaling.scaling import Scaling
from smtc_lab.study.folder import StudyFolder, read_study_state, studies_root
from tests.kit.prepared_script import PREPARED_SCRIPT
from tests.kit.quick_script import GROUPED_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

ALONE = "dnn_group=ml.p3.2xlarge:1"


def test_a_script_is_scaled_and_the_study_can_be_looked_at(
    smtc_lab: SmtcLab, home: Path
) -> None:
    (home / "train.py").write_text(GROUPED_SCRIPT, encoding="utf-8")

    said = smtc_lab(
        *("scale", "--cluster", ALONE, "--devices", "2,1", "--rounds", "2", "--steps", "20"),
        *("--link", "between=1Gbit/100us", "--scale", "0.005"),
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


@pytest.mark.timeout(240)  # five launches of torch
def test_a_study_tells_whether_several_trainers_train_one_processs_model(
    smtc_lab: SmtcLab, home: Path
) -> None:
    (home / "train.py").write_text(PREPARED_SCRIPT, encoding="utf-8")

    said = smtc_lab(
        *("scale", "--cluster", ALONE, "--devices", "1,2", "--rounds", "1", "--steps", "12"),
        *("--parity", "-p", "batch_size=8", "--scale", "0.1"),
        *("--json", home / "scaling.json", home / "train.py"),
    )

    assert said.exit_code == 0, said.err
    one, two = Scaling.from_json((home / "scaling.json").read_bytes()).curves[0].points
    assert one.same_model is None
    assert two.same_model is not None
    assert (two.same_model.equal, two.same_model.ranks) == (True, 2)
    (row,) = (line for line in said.out.splitlines() if "trains the model of one" in line)
    assert re.search(r"\N{EM DASH} +yes, .* apart \(its twin: ", row)
    (study, *_) = json.loads(smtc_lab("runs", "--json").out)
    assert "yes, " in smtc_lab("runs", "show", study["job_name"]).out
    launched = read_study_state(
        StudyFolder(studies_root(home / "runs") / study["job_name"])
    ).runs
    assert [run.label for run in launched] == [
        "1 device",
        "2 devices",
        "one process, parity",
        "permuted samples, parity",
        "2 devices, parity",
    ]
