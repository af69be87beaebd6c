"""What lies in a run's folder before anything is started: job, plan and secret."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.records.cluster_time import dilation_of_job

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder


def write_plan(folder: RunFolder, plan: LaunchPlan) -> None:
    """Write what a supervisor reads, and what a reader wants to know later."""
    job = plan.job
    folder.secret_file.touch(mode=0o600)
    folder.secret_file.write_bytes(secrets.token_bytes(32))
    folder.job_file.write_text(job.to_json(), encoding="utf-8")
    folder.plan_file.write_text(plan_text(plan), encoding="utf-8")


def _spot(job: TrainingJob) -> dict[str, Any] | None:
    """Return what a supervisor is told of instances that may be taken away; None: they stay."""
    if not job.use_spot_instances:
        return None
    market = None if job.market is None else job.market.model_dump()
    return {
        "max_wait_s": job.max_wait,
        "market": market,
        "seed": job.seed,
        "dilation": dilation_of_job(job),
    }


def plan_text(plan: LaunchPlan) -> str:
    """Return the content of ``plan.json``."""
    return json.dumps(
        {
            "launcher": plan.launcher,
            "instances": [asdict(instance) for instance in plan.instances],
            "usd_per_hour": plan.usd_per_hour,
            "price_notes": plan.price_notes,
            "grace_s": plan.facts["grace_s"],
            "max_runtime_s": plan.job.max_runtime_s,
            "spot": _spot(plan.job),
            "facts": plan.facts,
        },
        indent=1,
    )
