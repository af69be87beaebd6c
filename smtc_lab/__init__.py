"""Compare training clusters and compilers from a notebook.

The public names are loaded on first use, so that importing the package is quick and has no
side effect.
"""

from __future__ import annotations

import importlib

from smtc_lab.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every process
    from smtc_lab.catalog.catalog import Catalog as Catalog
    from smtc_lab.launchers.on_ray.launcher import RayLauncher as RayLauncher
    from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher as SageMakerLauncher
    from smtc_lab.launchers.render.render import render as render
    from smtc_lab.launchers.run import Run as Run
    from smtc_lab.launchers.run import launch as launch
    from smtc_lab.metrics.batch.batch_sizes import BatchSizes as BatchSizes
    from smtc_lab.metrics.compared.comparison import Comparison as Comparison
    from smtc_lab.metrics.memory.needs import MemoryNeeds as MemoryNeeds
    from smtc_lab.metrics.parity import ParityResult as ParityResult
    from smtc_lab.metrics.pipeline.times import PipelineTimes as PipelineTimes
    from smtc_lab.metrics.records.compiler_report import CompilerReport as CompilerReport
    from smtc_lab.metrics.scaling.scaling import Scaling as Scaling
    from smtc_lab.metrics.tuning.found import TuningFound as TuningFound
    from smtc_lab.parallel.memory.cheapest import cheapest_cluster as cheapest_cluster
    from smtc_lab.parallel.memory.memory import memory as memory
    from smtc_lab.parallel.pipeline.planning.planned import PipelinePlan as PipelinePlan
    from smtc_lab.parallel.pipeline.planning.preview import plan_pipeline as plan_pipeline
    from smtc_lab.planner.calibration.calibrate import calibrate as calibrate
    from smtc_lab.planner.calibration.calibration import Calibration as Calibration
    from smtc_lab.planner.plan import Plan as Plan
    from smtc_lab.planner.plan import plan as plan
    from smtc_lab.planner.spot.forecast import spot_forecast as spot_forecast
    from smtc_lab.planner.spot.result import SpotForecast as SpotForecast
    from smtc_lab.planner.spot.trace import SpotTrace as SpotTrace
    from smtc_lab.planner.tuning.expected import ExpectedCost as ExpectedCost
    from smtc_lab.planner.tuning.expected import expected_tuning_cost as expected_tuning_cost
    from smtc_lab.planner.tuning.pareto import tuning_job as tuning_job
    from smtc_lab.planner.tuning.pareto import tuning_pareto as tuning_pareto
    from smtc_lab.runtime.own_metrics.metric_log import log as log
    from smtc_lab.runtime.session import Session as Session
    from smtc_lab.spec.channel import Channel as Channel
    from smtc_lab.spec.cluster import Cluster as Cluster
    from smtc_lab.spec.cluster import InstanceGroup as InstanceGroup
    from smtc_lab.spec.compiler import TrainingCompilerConfig as TrainingCompilerConfig
    from smtc_lab.spec.distribution import Distribution as Distribution
    from smtc_lab.spec.emulation import EmulatedLink as EmulatedLink
    from smtc_lab.spec.emulation import Emulation as Emulation
    from smtc_lab.spec.job import TrainingJob as TrainingJob
    from smtc_lab.spec.spot import Market as Market
    from smtc_lab.spec.tuning.question import HyperbandStrategyConfig as HyperbandStrategyConfig
    from smtc_lab.spec.tuning.question import (
        TuningJobCompletionCriteriaConfig as TuningJobCompletionCriteriaConfig,
    )
    from smtc_lab.spec.tuning.question import WarmStartConfig as WarmStartConfig
    from smtc_lab.spec.tuning.ranges import CategoricalParameter as CategoricalParameter
    from smtc_lab.spec.tuning.ranges import ContinuousParameter as ContinuousParameter
    from smtc_lab.spec.tuning.ranges import IntegerParameter as IntegerParameter
    from smtc_lab.study.batch.size import find_batch_size as find_batch_size
    from smtc_lab.study.comparison.compare import ComparisonOutcome as ComparisonOutcome
    from smtc_lab.study.comparison.compare import compare as compare
    from smtc_lab.study.comparison.compare_compilers import (
        compare_compilers as compare_compilers,
    )
    from smtc_lab.study.comparison.compare_environments import (
        compare_environments as compare_environments,
    )
    from smtc_lab.study.comparison.comparison_run import ComparisonRun as ComparisonRun
    from smtc_lab.study.comparison.comparison_run import launch_comparison as launch_comparison
    from smtc_lab.study.experiments.experiment import annotate as annotate
    from smtc_lab.study.experiments.experiment import experiment_run as experiment_run
    from smtc_lab.study.experiments.run_diff import diff as diff
    from smtc_lab.study.resuming.proof import ResumeProof as ResumeProof
    from smtc_lab.study.resuming.prove import prove_resume as prove_resume
    from smtc_lab.study.scaling.same_model import check_parity as check_parity
    from smtc_lab.study.scaling.scale import ScalingRun as ScalingRun
    from smtc_lab.study.scaling.scale import launch_scaling as launch_scaling
    from smtc_lab.study.scaling.scale import scale as scale
    from smtc_lab.study.tuning.tuner import HyperparameterTuner as HyperparameterTuner
    from smtc_lab.study.tuning.tuning_run import TuningRun as TuningRun
    from smtc_lab.study.watched_run import Progress as Progress
    from smtc_lab.views.export.export import export_runs as export_runs
    from smtc_lab.views.export.run_zip import import_runs as import_runs
    from smtc_lab.views.run_comparison.compare import compare_runs as compare_runs
    from smtc_lab.views.run_comparison.comparison import RunComparison as RunComparison
    from smtc_lab.views.run_comparison.widget import (
        RunComparisonView as RunComparisonView,
    )
    from smtc_lab.views.run_table.table import runs as runs
    from smtc_lab.views.share.share import share as share
    from smtc_lab.views.widgets.cluster_designer import ClusterDesigner as ClusterDesigner
    from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor as ComparisonMonitor
    from smtc_lab.views.widgets.compiler_settings import CompilerSettings as CompilerSettings
    from smtc_lab.views.widgets.instance_type_picker import (
        InstanceTypePicker as InstanceTypePicker,
    )
    from smtc_lab.views.widgets.launch_view import LaunchView as LaunchView
    from smtc_lab.views.widgets.live_chart import LiveChart as LiveChart
    from smtc_lab.views.widgets.pipeline_view import PipelineView as PipelineView
    from smtc_lab.views.widgets.plan_view import PlanView as PlanView
    from smtc_lab.views.widgets.run_monitor import RunMonitor as RunMonitor
    from smtc_lab.views.widgets.workbench import Workbench as Workbench

_HOMES = {
    "BatchSizes": "smtc_lab.metrics.batch.batch_sizes",
    "Calibration": "smtc_lab.planner.calibration.calibration",
    "Catalog": "smtc_lab.catalog.catalog",
    "Channel": "smtc_lab.spec.channel",
    "Cluster": "smtc_lab.spec.cluster",
    "ClusterDesigner": "smtc_lab.views.widgets.cluster_designer",
    "Comparison": "smtc_lab.metrics.compared.comparison",
    "ComparisonMonitor": "smtc_lab.views.widgets.comparison_monitor",
    "ComparisonOutcome": "smtc_lab.study.comparison.compare",
    "ComparisonRun": "smtc_lab.study.comparison.comparison_run",
    "CompilerReport": "smtc_lab.metrics.records.compiler_report",
    "CompilerSettings": "smtc_lab.views.widgets.compiler_settings",
    "Distribution": "smtc_lab.spec.distribution",
    "EmulatedLink": "smtc_lab.spec.emulation",
    "Emulation": "smtc_lab.spec.emulation",
    "InstanceGroup": "smtc_lab.spec.cluster",
    "InstanceTypePicker": "smtc_lab.views.widgets.instance_type_picker",
    "LaunchView": "smtc_lab.views.widgets.launch_view",
    "LiveChart": "smtc_lab.views.widgets.live_chart",
    "ParityResult": "smtc_lab.metrics.parity",
    "PipelinePlan": "smtc_lab.parallel.pipeline.planning.planned",
    "MemoryNeeds": "smtc_lab.metrics.memory.needs",
    "PipelineTimes": "smtc_lab.metrics.pipeline.times",
    "Market": "smtc_lab.spec.spot",
    "Plan": "smtc_lab.planner.plan",
    "PipelineView": "smtc_lab.views.widgets.pipeline_view",
    "PlanView": "smtc_lab.views.widgets.plan_view",
    "Progress": "smtc_lab.study.watched_run",
    "RayLauncher": "smtc_lab.launchers.on_ray.launcher",
    "ResumeProof": "smtc_lab.study.resuming.proof",
    "Run": "smtc_lab.launchers.run",
    "RunComparison": "smtc_lab.views.run_comparison.comparison",
    "RunComparisonView": "smtc_lab.views.run_comparison.widget",
    "RunMonitor": "smtc_lab.views.widgets.run_monitor",
    "SageMakerLauncher": "smtc_lab.launchers.on_sagemaker.launcher",
    "Scaling": "smtc_lab.metrics.scaling.scaling",
    "ScalingRun": "smtc_lab.study.scaling.scale",
    "Session": "smtc_lab.runtime.session",
    "SpotForecast": "smtc_lab.planner.spot.result",
    "SpotTrace": "smtc_lab.planner.spot.trace",
    "TrainingCompilerConfig": "smtc_lab.spec.compiler",
    "TrainingJob": "smtc_lab.spec.job",
    "Workbench": "smtc_lab.views.widgets.workbench",
    "annotate": "smtc_lab.study.experiments.experiment",
    "calibrate": "smtc_lab.planner.calibration.calibrate",
    "cheapest_cluster": "smtc_lab.parallel.memory.cheapest",
    "check_parity": "smtc_lab.study.scaling.same_model",
    "compare": "smtc_lab.study.comparison.compare",
    "compare_compilers": "smtc_lab.study.comparison.compare_compilers",
    "compare_environments": "smtc_lab.study.comparison.compare_environments",
    "compare_runs": "smtc_lab.views.run_comparison.compare",
    "diff": "smtc_lab.study.experiments.run_diff",
    "experiment_run": "smtc_lab.study.experiments.experiment",
    "export_runs": "smtc_lab.views.export.export",
    "CategoricalParameter": "smtc_lab.spec.tuning.ranges",
    "ContinuousParameter": "smtc_lab.spec.tuning.ranges",
    "IntegerParameter": "smtc_lab.spec.tuning.ranges",
    "HyperbandStrategyConfig": "smtc_lab.spec.tuning.question",
    "TuningJobCompletionCriteriaConfig": "smtc_lab.spec.tuning.question",
    "WarmStartConfig": "smtc_lab.spec.tuning.question",
    "HyperparameterTuner": "smtc_lab.study.tuning.tuner",
    "ExpectedCost": "smtc_lab.planner.tuning.expected",
    "expected_tuning_cost": "smtc_lab.planner.tuning.expected",
    "TuningRun": "smtc_lab.study.tuning.tuning_run",
    "TuningFound": "smtc_lab.metrics.tuning.found",
    "find_batch_size": "smtc_lab.study.batch.size",
    "import_runs": "smtc_lab.views.export.run_zip",
    "launch": "smtc_lab.launchers.run",
    "launch_comparison": "smtc_lab.study.comparison.comparison_run",
    "launch_scaling": "smtc_lab.study.scaling.scale",
    "log": "smtc_lab.runtime.own_metrics.metric_log",
    "memory": "smtc_lab.parallel.memory.memory",
    "plan": "smtc_lab.planner.plan",
    "plan_pipeline": "smtc_lab.parallel.pipeline.planning.preview",
    "prove_resume": "smtc_lab.study.resuming.prove",
    "render": "smtc_lab.launchers.render.render",
    "runs": "smtc_lab.views.run_table.table",
    "scale": "smtc_lab.study.scaling.scale",
    "spot_forecast": "smtc_lab.planner.spot.forecast",
    "share": "smtc_lab.views.share.share",
    "tuning_job": "smtc_lab.planner.tuning.pareto",
    "tuning_pareto": "smtc_lab.planner.tuning.pareto",
}

__all__ = ["catalog", "load_ipython_extension", *_HOMES]  # noqa: PLE0604


def load_ipython_extension(ipython: object) -> None:
    """Add the cell magic ``%%smtc`` to a notebook: ``%load_ext smtc_lab``."""
    importlib.import_module("smtc_lab.views.magics").register_magics(ipython)


def __getattr__(name: str) -> object:
    if name == "catalog":  # a folder of the package
        return importlib.import_module("smtc_lab.catalog")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
