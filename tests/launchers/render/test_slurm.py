"""The sbatch script as a text; ``test_slurm_start.py`` runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtc_lab.errors import SpecError
from smtc_lab.launchers.render.render import render
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.hostile import HOSTILE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeJob = Callable[..., TrainingJob]

GOLDEN = Path(__file__).parent / "golden" / "slurm.sh"
ROOT = Path("/shared/runs")
PYTHON = "/opt/venv/bin/python"


def script_of(job: TrainingJob, **options: object) -> str:
    return render(job, "slurm", **{"root": ROOT, "python": PYTHON, **options})


def job_in(script: str) -> TrainingJob:
    """Return the job that the script hands on, taken out of it as a shell does."""
    _, _, rest = script.partition("<<'END_OF_JOB'\n")
    text, _, _ = rest.partition("\nEND_OF_JOB\n")
    return TrainingJob.from_json(text)


def test_the_script_is_as_it_was_reviewed(make_job: MakeJob, tmp_path: Path) -> None:
    job = make_job(hyperparameters={"batch_size": 32, "note": "it's $HOME"}, max_steps=100)

    written = script_of(job).replace(str(tmp_path), "/shared/code")

    assert written == GOLDEN.read_text("utf-8")


def test_bash_understands_the_script() -> None:
    told = subprocess.run(["bash", "-n", GOLDEN], capture_output=True, text=True, check=False)

    assert (told.returncode, told.stderr) == (0, "")


def test_a_job_of_one_group_is_no_heterogeneous_job(make_job: MakeJob) -> None:
    script = script_of(make_job(cluster="dnn_group=ml.g5.2xlarge:3"))

    assert "hetjob" not in script
    assert "#SBATCH --nodes=3 --ntasks-per-node=1 --cpus-per-task=8 --mem=25G" in script
    assert "--gpus-per-node=1\n" in script


def test_slurm_allows_more_time_than_the_job_so_that_the_run_says_why_it_ended(
    make_job: MakeJob,
) -> None:
    assert "#SBATCH --time=3\n" in script_of(make_job(max_runtime_s=61.0))


def test_paths_in_the_script_do_not_depend_on_where_it_is_submitted(
    make_job: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    job = make_job(channels=[Channel(channel_name="train", source="data")])

    handed_on = job_in(script_of(job.model_copy(update={"entry_point": "train.py"})))

    assert handed_on.entry_point == str(tmp_path / "train.py")
    assert handed_on.channels[0].source == str(tmp_path / "data")


def test_a_job_without_a_name_is_called_after_its_script(make_job: MakeJob) -> None:
    assert "#SBATCH --job-name=train\n" in script_of(make_job(job_name=None))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
    | st.sampled_from([text for text in HOSTILE_TEXTS if "\0" not in text])
)
def test_no_value_leaves_the_json_that_it_travels_in(make_job: MakeJob, text: str) -> None:
    plain = script_of(make_job(hyperparameters={"note": ""}, environment={"NOTE": ""}))
    job = make_job(hyperparameters={"note": text}, environment={"NOTE": text})

    script = script_of(job)

    assert job_in(script) == job
    assert script.partition("<<")[0] == plain.partition("<<")[0]
    assert script.count("\n") == plain.count("\n")
    assert script.isascii()


def test_a_shell_hands_on_hostile_values_untouched(make_job: MakeJob, tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s $(touch pwned) "a" `b`;\n#SBATCH c'
    folder.mkdir()
    program = folder / "python"
    program.write_text("#!/bin/bash\nprintf '%s\\0' \"$@\"\ncat\n", encoding="utf-8")
    program.chmod(0o700)
    texts = [text for text in HOSTILE_TEXTS if "\0" not in text]
    job = make_job(hyperparameters={"texts": [*texts, "\nEND_OF_JOB\n"]})
    script = script_of(job, root=folder, python=str(program))

    told = subprocess.run(
        ["bash", "-s"], input=script.encode(), capture_output=True, cwd=tmp_path, check=True
    )

    *arguments, text = told.stdout.decode().split("\0")
    assert arguments == ["-m", "smtc_lab.launchers.render.slurm_start", str(folder)]
    assert TrainingJob.from_json(text) == job
    assert not list(tmp_path.rglob("pwned"))


def test_everything_that_is_wrong_is_said_at_once(make_job: MakeJob, tmp_path: Path) -> None:
    job = make_job(
        job_name="x" * 60,
        cluster="dnn_group=ml.p9.2xlarge:1,data_group=local:1",
        emulation=Emulation(),
        channels=[Channel(channel_name="train", source="/nowhere")],
    )
    (tmp_path / "train.py").unlink()

    with pytest.raises(SpecError) as refused:
        render(job, "slurm", root=Path("runs"))

    said = "\n".join(refused.value.problems)
    assert len(refused.value.problems) == 7
    for part in (
        "train.py' is not a file",
        "'/nowhere', which is not a folder",
        "'ml.p9.2xlarge' is not one of",
        "'local' is this machine",
        "an emulation, which stands in for hardware on one machine",
        "has 60 characters, but may have 52",
        "'runs' is not a whole path",
    ):
        assert part in said


def test_what_slurm_has_no_name_for_is_refused(make_job: MakeJob) -> None:
    with pytest.raises(SpecError, match=r"'dnn_group' is of ml\.trn1\.32xlarge.*NVIDIA"):
        script_of(make_job(cluster="dnn_group=ml.trn1.32xlarge:1"))


def test_a_cluster_in_which_nothing_trains_is_refused(make_job: MakeJob) -> None:
    job = make_job(cluster="a=ml.p3.2xlarge:1:data,b=ml.c5.xlarge:1")

    with pytest.raises(SpecError, match="would train"):
        script_of(job)


def test_a_compiler_that_trains_on_one_instance_is_refused_on_more(make_job: MakeJob) -> None:
    job = make_job(
        cluster="a=ml.p3.2xlarge:2", compiler_config=TrainingCompilerConfig(backend="xla")
    )

    with pytest.raises(SpecError, match=r"'xla' trains on one instance.*has 2"):
        script_of(job)


@pytest.mark.parametrize(
    ("to", "options", "said"),
    [
        ("lsf", {}, "no format 'lsf'. Choose among slurm, jobset"),
        ("slurm", {"image": "x", "claim": "y"}, "takes no option claim, image. It takes root"),
    ],
)
def test_an_unknown_format_or_option_is_refused(
    make_job: MakeJob, to: str, options: dict[str, str], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        render(make_job(), to, **options)


def test_the_script_holds_only_what_was_set(make_job: MakeJob) -> None:
    _, _, rest = script_of(make_job()).partition("<<'END_OF_JOB'\n")

    assert set(json.loads(rest.removesuffix("END_OF_JOB\n"))) == {
        "entry_point",
        "cluster",
        "job_name",
    }
