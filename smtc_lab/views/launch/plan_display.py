"""What a launch asks for, shown before it is asked: instances, cost, the exact request."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from smtc_lab.spec.cluster import LOCAL
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.launchers.launcher import LaunchPlan

_COLUMNS = ("instances", "role", "hosts")
_MOST_HOSTS = 4
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL", re.IGNORECASE)
"""Environment variables that a notebook must not keep: it is handed on."""


def bundle_of(plan: LaunchPlan) -> dict[str, Any]:
    """Return the mime bundle of a launch plan."""
    return {"text/html": to_html(plan), "text/plain": to_text(plan)}


def to_html(plan: LaunchPlan) -> str:
    """Return a launch plan as HTML that needs no script, and that sanitizers leave whole."""
    return render(
        "display_launch.html.j2",
        title=_title(plan),
        cost=cost_sentence(plan),
        caption=_caption(plan),
        columns=_COLUMNS,
        rows=_rows(plan),
        warnings=plan.facts.get("warnings", []),
        request=escape(json.dumps(shown_request(plan), indent=1)),
    )


def to_text(plan: LaunchPlan) -> str:
    """Return a launch plan as text, without its request."""
    return "\n".join(
        [
            _title(plan),
            cost_sentence(plan),
            f"{_caption(plan)}:",
            *(f"  {name}: {kind}, {role}, {hosts}" for name, kind, role, hosts in _rows(plan)),
            *plan.facts.get("warnings", []),
        ]
    )


def cost_sentence(plan: LaunchPlan) -> str:
    """Return what a launch costs, with each price's kind and date."""
    if plan.order is not None:
        known = plan.order.worst_case_usd is not None
        return f"Costs {'' if known else 'are not known: '}{plan.order.words}"
    nothing = "Orders nothing that is paid for."
    if all(item.instance_type == LOCAL for item in plan.instances):
        return nothing
    prices = "; ".join(plan.price_notes)
    price = fmt.usd_per_hour(plan.usd_per_hour)
    return f"{nothing} SageMaker's price of such instances: {price} ({prices})."


def shown_request(plan: LaunchPlan) -> dict[str, Any]:
    """Return the exact request, with the secrets among the job's environment left out."""
    if plan.request is not None:
        request = dict(plan.request)
        if "Environment" in request:
            request["Environment"] = _without_secrets(request["Environment"])
        return request
    job = plan.job.model_dump(mode="json")
    job["environment"] = _without_secrets(job["environment"])
    instances = [asdict(instance) for instance in plan.instances]
    return {"launcher": plan.launcher, "job": job, "instances": instances, "facts": plan.facts}


def _without_secrets(environment: dict[str, str]) -> dict[str, str]:
    return {
        name: "(not shown)" if _SECRET.search(name) else value
        for name, value in environment.items()
    }


def _title(plan: LaunchPlan) -> str:
    return f"Launch of {fmt.plain(str(plan.job.job_name))} on {plan.launcher}"


def _caption(plan: LaunchPlan) -> str:
    cluster = plan.job.cluster
    return f"Cluster {fmt.plain(cluster.label)}: {fmt.count(len(plan.instances), 'instance')}"


def _rows(plan: LaunchPlan) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for group in plan.job.cluster.instance_groups:
        name = group.instance_group_name
        own = [item for item in plan.instances if item.instance_group_name == name]
        kind = f"{len(own)} {fmt.TIMES} {fmt.plain(group.instance_type)}"
        rows.append((fmt.plain(name), kind, own[0].role, _hosts(own)))
    return rows


def _hosts(instances: list[InstancePlan]) -> str:
    """Return the hosts, each with its address where it is known and is another one."""
    named = [
        item.host if item.address in {"", item.host} else f"{item.host} at {item.address}"
        for item in instances[:_MOST_HOSTS]
    ]
    more = len(instances) - len(named)
    return ", ".join(named) + f" and {more} more" * (more > 0)
