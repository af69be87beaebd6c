"""The manifest of a JobSet, read back by a YAML reader; no Kubernetes has seen it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtc_lab.errors import SpecError
from smtc_lab.launchers.render.render import render
from smtc_lab.launchers.render.yaml_text import yaml_text
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.hostile import HOSTILE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeJob = Callable[..., TrainingJob]

GOLDEN = Path(__file__).parent / "golden" / "jobset.yaml"
IMAGE = "registry.example.com/train:1"
PLAIN = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def manifest_of(job: TrainingJob, **options: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(render(job, "jobset", **{"image": IMAGE, **options}))
    return read


def pods(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the pod of each replicated job."""
    return {
        job["name"]: job["template"]["spec"]["template"]["spec"]
        for job in manifest["spec"]["replicatedJobs"]
    }


def expanded(value: str) -> str:
    """Return what Kubernetes hands on as the value of a variable, where none refers to another.

    ``$$`` stands for ``$``, and ``$(NAME)`` for another variable.
    """
    assert not re.search(r"(?<!\$)(\$\$)*\$\(", value)
    return value.replace("$$", "$")


def job_in(pod: dict[str, Any]) -> TrainingJob:
    (container,) = pod["containers"]
    variables = {item["name"]: item["value"] for item in container["env"]}
    return TrainingJob.from_json(expanded(variables["SMTC_JOB"]))


def test_the_manifest_is_as_it_was_reviewed(make_job: MakeJob) -> None:
    job = make_job(hyperparameters={"batch_size": 32, "note": "it's $HOME"}, max_steps=100)
    job = job.model_copy(update={"entry_point": "train.py"})

    assert render(job, "jobset", image=IMAGE, claim="shared") == GOLDEN.read_text("utf-8")


def test_the_job_ends_with_its_trainers_and_with_the_first_failure(make_job: MakeJob) -> None:
    cluster = "a=ml.p3.2xlarge:1,b=ml.g5.xlarge:2,c=ml.c5.xlarge:3"

    spec = manifest_of(make_job(cluster=cluster, max_runtime_s=99.5))["spec"]

    assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["a", "b"]}
    assert spec["failurePolicy"] == {"maxRestarts": 0}
    jobs = [job["template"]["spec"] for job in spec["replicatedJobs"]]
    assert [job["completions"] for job in jobs] == [1, 2, 3]
    for job in jobs:
        assert job["parallelism"] == job["completions"]
        assert job["backoffLimit"] == 0
        assert job["activeDeadlineSeconds"] == 100
        assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_a_pod_asks_for_what_its_type_has_and_for_a_node_of_it(make_job: MakeJob) -> None:
    found = pods(manifest_of(make_job(cluster="a=ml.p4d.24xlarge:1,b=ml.c5.18xlarge:1")))

    assert found["a"]["containers"][0]["resources"] == {
        "requests": {"cpu": "76800m", "memory": "921Gi"},
        "limits": {"nvidia.com/gpu": 8},
    }
    assert found["b"]["containers"][0]["resources"] == {
        "requests": {"cpu": "57600m", "memory": "115Gi"}
    }
    assert found["a"]["nodeSelector"] == {"node.kubernetes.io/instance-type": "p4d.24xlarge"}
    assert found["a"]["tolerations"][0]["key"] == "nvidia.com/gpu"
    assert "tolerations" not in found["b"]


def test_trainium_is_asked_for_by_its_own_name(make_job: MakeJob) -> None:
    (pod,) = pods(manifest_of(make_job(cluster="a=ml.trn1.32xlarge:1"))).values()

    assert pod["containers"][0]["resources"]["limits"] == {"aws.amazon.com/neuron": 16}


def test_the_manifest_refers_to_a_secret_and_holds_none(make_job: MakeJob) -> None:
    text = render(make_job(), "jobset", image=IMAGE)

    assert text == render(make_job(), "jobset", image=IMAGE)
    assert "kubectl create secret generic demo-secret --from-file=secret=/dev/stdin" in text
    for pod in pods(yaml.safe_load(text)).values():
        assert {"name": "secret", "secret": {"secretName": "demo-secret"}} in pod["volumes"]


@pytest.mark.parametrize(
    ("claim", "volume"),
    [
        ({}, {"name": "runs", "emptyDir": {}}),
        (
            {"claim": "shared"},
            {"name": "runs", "persistentVolumeClaim": {"claimName": "shared"}},
        ),
    ],
)
def test_a_claim_keeps_the_records(
    make_job: MakeJob, claim: dict[str, str], volume: dict[str, object]
) -> None:
    for pod in pods(manifest_of(make_job(), **claim)).values():
        assert volume in pod["volumes"]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=PLAIN | st.sampled_from([text for text in HOSTILE_TEXTS if "\0" not in text]),
    path=st.sampled_from(["$(HOME)", "$$(HOME)", "`a`", "'\"\\ \n: - #"]),
)
def test_no_value_leaves_the_text_that_it_travels_in(
    make_job: MakeJob, text: str, path: str
) -> None:
    job = make_job(hyperparameters={"note": text}, environment={"NOTE": text})
    job = job.model_copy(update={"entry_point": f"{path}.py"})

    manifest = manifest_of(job)

    for pod in pods(manifest).values():
        assert job_in(pod) == job


NESTED = st.recursive(
    PLAIN | st.integers() | st.booleans(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.from_regex(r"[a-z]{4}\.[a-z/-]{1,9}[a-z]", fullmatch=True), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(value=NESTED)
def test_what_is_written_as_yaml_is_read_back_unchanged(value: object) -> None:
    assert yaml.safe_load(yaml_text({"value": value})) == {"value": value}


@pytest.mark.parametrize(
    ("job_name", "group", "names"),
    [
        ("Demo-1", "Dnn_Group", ("demo-1", "dnn-group")),
        ("2026-run", "g_", ("job-2026-run", "g")),
        ("demo", "1st", ("demo", "1st")),
    ],
)
def test_names_become_dns_labels(
    make_job: MakeJob, job_name: str, group: str, names: tuple[str, str]
) -> None:
    manifest = manifest_of(make_job(job_name=job_name, cluster=f"{group}=ml.p3.2xlarge:1"))

    (replicated,) = manifest["spec"]["replicatedJobs"]
    assert (manifest["metadata"]["name"], replicated["name"]) == names
    for name in names:
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name)


def test_names_that_would_be_one_or_too_long_are_refused(make_job: MakeJob) -> None:
    job = make_job(job_name="x" * 49, cluster="d_g=ml.p3.2xlarge:1,D-G=ml.c5.xlarge:1000")

    with pytest.raises(SpecError) as refused:
        manifest_of(job)

    same, long = refused.value.problems
    assert "'d_g' and 'D-G' are both 'd-g'" in same
    assert "which is 2 characters too long for Kubernetes" in long


def test_everything_that_is_wrong_is_said_at_once(make_job: MakeJob) -> None:
    job = make_job(
        cluster="a=ml.p9.2xlarge:1",
        emulation=Emulation(),
        hyperparameters={"table": "x" * 100_000},
        channels=[Channel(channel_name="train", source="s3://bucket/train")],
    )

    with pytest.raises(SpecError) as refused:
        render(job, "jobset", claim="Runs!")

    said = "\n".join(refused.value.problems)
    assert len(refused.value.problems) == 6
    for part in (
        "image is missing: Kubernetes runs containers",
        "claim='Runs!' is not the name",
        "'ml.p9.2xlarge' is not one of",
        "an emulation, which stands in",
        "source 's3://bucket/train', which no pod can open",
        "characters as JSON, but may have 100000",
    ):
        assert part in said


@pytest.mark.parametrize("image", ["", "a b", "a\nb: c", "-x", "$(touch x)"])
def test_what_is_no_image_is_refused(make_job: MakeJob, image: str) -> None:
    with pytest.raises(SpecError, match="is not the name of a container image"):
        manifest_of(make_job(), image=image)
