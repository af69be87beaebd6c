"""A launch plan as people see it, before anything is started."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from nbconvert.filters.strings import clean_html

from smtc_lab.launchers.run import launcher_named
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from tests.kit.hostile import HOSTILE_TEXTS, markup_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import LaunchPlan
    from tests.kit.golden_texts import GoldenTexts

ACCOUNT = {
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
    "s3_uri": "s3://the-bucket/lab",
}
HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"

INERT = {"div", "pre", "span", "strong"}


@pytest.fixture
def planned(tmp_path: Path) -> Callable[..., LaunchPlan]:
    script = tmp_path / "train.py"
    script.touch()

    def plan(on: str, cluster: str = HETEROGENEOUS, **values: Any) -> LaunchPlan:
        job = TrainingJob(
            entry_point=str(script), cluster=Cluster.parse(cluster), job_name="digits", **values
        )
        options = ACCOUNT if on == "sagemaker" else {}
        return launcher_named(on, root=tmp_path / "runs", **options).plan(job)

    return plan


def words_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def request_in(page: str) -> dict[str, Any]:
    (text,) = re.findall(r"<pre[^>]*>(.*)</pre>", page, re.DOTALL)
    request: dict[str, Any] = json.loads(unescape(text))
    return request


def test_a_paid_plan_shows_its_worst_case_its_prices_and_the_exact_request(
    planned: Callable[..., LaunchPlan], golden_texts: GoldenTexts
) -> None:
    plan = planned("sagemaker", max_runtime_s=7200)

    bundle = plan._repr_mimebundle_()

    worst_usd = (3.825 + 2 * 1.836) * 2
    for text in (bundle["text/plain"], words_of(bundle["text/html"])):
        assert f"${worst_usd:.2f}" in text
    new = planned("sagemaker", "new=ml.p9.48xlarge:1:train")._repr_mimebundle_()["text/plain"]
    assert "$" not in new
    unpriced, *_ = new.partition("Instance type")  # what boto3 knows of it
    golden_texts(
        "launch",
        {"priced": bundle["text/plain"], "a price is unknown": unpriced},
    )
    assert request_in(bundle["text/html"]) == plan.facts["sagemaker"]["request"]
    assert plan._repr_html_() == bundle["text/html"]


def test_a_plan_of_this_machine_tells_addresses_and_that_nothing_is_paid_for(
    planned: Callable[..., LaunchPlan], golden_texts: GoldenTexts
) -> None:
    plan = planned("local", "here@group=local:6")

    text = plan._repr_mimebundle_()["text/plain"]

    prefix = plan.instances[0].address.rpartition(".")[0]
    assert f"{prefix}.1" in text
    golden_texts("launch", {"this machine": text.replace(prefix, "127.0.0")})


@pytest.mark.parametrize("on", ["local", "sagemaker"])
def test_secrets_of_the_environment_are_not_kept_in_a_notebook(
    planned: Callable[..., LaunchPlan], on: str
) -> None:
    plan = planned(on, environment={"HF_TOKEN": "hf_abc", "db_password": "hf_abc", "MODE": "a"})

    page = plan._repr_html_()

    request = request_in(page)
    shown = request["Environment"] if on == "sagemaker" else request["job"]["environment"]
    assert "hf_abc" not in page
    assert (shown["HF_TOKEN"], shown["MODE"]) == ("(not shown)", "a")
    assert "hf_abc" in plan.job.environment.values()


def test_hostile_texts_are_text_and_sanitizers_keep_every_word(
    planned: Callable[..., LaunchPlan],
) -> None:
    texts = {f"t{place}": text[:200] for place, text in enumerate(HOSTILE_TEXTS)}
    plan = planned("local")
    cluster = plan.job.cluster.model_copy(update={"name": "<img src=x>"})
    job = plan.job.model_copy(update={"cluster": cluster, "hyperparameters": texts})
    said = {"price_notes": tuple(texts.values()), "facts": {"warnings": [*texts.values()]}}

    page = replace(plan, job=job, **said)._repr_html_()

    assert words_of(clean_html(page)) == words_of(page)
    assert {name for name in markup_of(page) if not name.startswith("@")} == INERT
    assert request_in(page)["job"]["hyperparameters"] == texts
