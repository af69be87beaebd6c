"""Everything that crosses to a browser as JSON, by the Python types that describe it.

``extensions/protocol/make_types.mjs`` makes the TypeScript types of it, and the schema by which
the browser's one reader checks what comes. ``frames`` carries the numbers of tables beside.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from smtc_lab.catalog.instance_types import InstanceType
from smtc_lab.follow.frames import FrameHead
from smtc_lab.views.environments.told import Environments
from smtc_lab.views.forecast.catalog_plan import CatalogPlans
from smtc_lab.views.forecast.info import Forecast
from smtc_lab.views.forecast.ladder import CompilerLadders
from smtc_lab.views.live.list_row import Row
from smtc_lab.views.live.watch import BeatInfo
from smtc_lab.views.plan.cut_info import PlannedCutInfo, PlannedModelInfo
from smtc_lab.views.plan.info import PlanInfo
from smtc_lab.views.run.info import LogInfo, RunInfo
from smtc_lab.views.run.snapshot import CurveInfo
from smtc_lab.views.run_comparison.comparison import RunComparison
from smtc_lab.views.scaling.info import ScalingInfo
from smtc_lab.views.scripts.info import Scripts
from smtc_lab.views.spot.info import SpotAnswer
from smtc_lab.views.study.info import ComparisonInfo
from smtc_lab.views.tuning.info import TuningInfo
from smtc_lab.views.widgets.traits.catalog import SHOWN


class Wire(BaseModel):
    """Everything that crosses."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    run: RunInfo
    log: LogInfo
    beat: BeatInfo
    comparison: ComparisonInfo
    scaling: ScalingInfo
    tuning: TuningInfo
    plan: PlanInfo
    planned_cut: PlannedCutInfo
    planned_model: PlannedModelInfo
    frame: FrameHead
    curve: CurveInfo
    row: Row
    instance_type: InstanceType
    environments: Environments
    forecast: Forecast
    catalog_plans: CatalogPlans
    compiler_ladders: CompilerLadders
    scripts: Scripts
    spot_answer: SpotAnswer
    run_comparison: RunComparison


def wire_schema() -> dict[str, Any]:
    """Return the JSON Schema of everything that crosses: ``$defs`` by the name of its type."""
    parts: dict[str, Any] = Wire.model_json_schema()["$defs"]
    told = parts["InstanceType"]
    told["properties"] = {name: told["properties"][name] for name in SHOWN}
    told["required"] = [name for name in told["required"] if name in SHOWN]
    return {"$defs": parts}
