"""Compare training clusters and compilers from a notebook.

The public names are loaded on first use, so that importing the package is quick and has no
side effect.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every process
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.launchers.on_ray.launcher import RayLauncher
    from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
    from smtc_lab.launchers.render.render import render
    from smtc_lab.launchers.run import Run, launch
    from smtc_lab.launchers.watched_run import Progress
    from smtc_lab.metrics.batch_sizes import BatchSizes
    from smtc_lab.metrics.comparison import Comparison
    from smtc_lab.metrics.compiler_report import CompilerReport
    from smtc_lab.planner.calibrate import calibrate
    from smtc_lab.planner.calibration import Calibration
    from smtc_lab.planner.plan import Plan, plan
    from smtc_lab.runtime.session import Session
    from smtc_lab.spec.channel import Channel
    from smtc_lab.spec.cluster import Cluster, InstanceGroup
    from smtc_lab.spec.compiler import TrainingCompilerConfig
    from smtc_lab.spec.emulation import Emulation
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.batch_size import find_batch_size
    from smtc_lab.study.compare import ComparisonOutcome, compare
    from smtc_lab.study.compare_compilers import compare_compilers
    from smtc_lab.study.compare_environments import compare_environments
    from smtc_lab.study.comparison_run import ComparisonRun, launch_comparison
    from smtc_lab.views.widgets.cluster_designer import ClusterDesigner
    from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
    from smtc_lab.views.widgets.compiler_settings import CompilerSettings
    from smtc_lab.views.widgets.instance_type_picker import InstanceTypePicker
    from smtc_lab.views.widgets.launch_view import LaunchView
    from smtc_lab.views.widgets.live_chart import LiveChart
    from smtc_lab.views.widgets.plan_view import PlanView
    from smtc_lab.views.widgets.run_monitor import RunMonitor
    from smtc_lab.views.widgets.workbench import Workbench

__version__ = "0.1.0"

_HOMES = {
    "BatchSizes": "smtc_lab.metrics.batch_sizes",
    "Calibration": "smtc_lab.planner.calibration",
    "Catalog": "smtc_lab.catalog.catalog",
    "Channel": "smtc_lab.spec.channel",
    "Cluster": "smtc_lab.spec.cluster",
    "ClusterDesigner": "smtc_lab.views.widgets.cluster_designer",
    "Comparison": "smtc_lab.metrics.comparison",
    "ComparisonMonitor": "smtc_lab.views.widgets.comparison_monitor",
    "ComparisonOutcome": "smtc_lab.study.compare",
    "ComparisonRun": "smtc_lab.study.comparison_run",
    "CompilerReport": "smtc_lab.metrics.compiler_report",
    "CompilerSettings": "smtc_lab.views.widgets.compiler_settings",
    "Emulation": "smtc_lab.spec.emulation",
    "InstanceGroup": "smtc_lab.spec.cluster",
    "InstanceTypePicker": "smtc_lab.views.widgets.instance_type_picker",
    "LaunchView": "smtc_lab.views.widgets.launch_view",
    "LiveChart": "smtc_lab.views.widgets.live_chart",
    "Plan": "smtc_lab.planner.plan",
    "PlanView": "smtc_lab.views.widgets.plan_view",
    "Progress": "smtc_lab.launchers.watched_run",
    "RayLauncher": "smtc_lab.launchers.on_ray.launcher",
    "Run": "smtc_lab.launchers.run",
    "RunMonitor": "smtc_lab.views.widgets.run_monitor",
    "SageMakerLauncher": "smtc_lab.launchers.on_sagemaker.launcher",
    "Session": "smtc_lab.runtime.session",
    "TrainingCompilerConfig": "smtc_lab.spec.compiler",
    "TrainingJob": "smtc_lab.spec.job",
    "Workbench": "smtc_lab.views.widgets.workbench",
    "calibrate": "smtc_lab.planner.calibrate",
    "compare": "smtc_lab.study.compare",
    "compare_compilers": "smtc_lab.study.compare_compilers",
    "compare_environments": "smtc_lab.study.compare_environments",
    "find_batch_size": "smtc_lab.study.batch_size",
    "launch": "smtc_lab.launchers.run",
    "launch_comparison": "smtc_lab.study.comparison_run",
    "plan": "smtc_lab.planner.plan",
    "render": "smtc_lab.launchers.render.render",
}

__all__ = [
    "BatchSizes",
    "Calibration",
    "Catalog",
    "Channel",
    "Cluster",
    "ClusterDesigner",
    "Comparison",
    "ComparisonMonitor",
    "ComparisonOutcome",
    "ComparisonRun",
    "CompilerReport",
    "CompilerSettings",
    "Emulation",
    "InstanceGroup",
    "InstanceTypePicker",
    "LaunchView",
    "LiveChart",
    "Plan",
    "PlanView",
    "Progress",
    "RayLauncher",
    "Run",
    "RunMonitor",
    "SageMakerLauncher",
    "Session",
    "TrainingCompilerConfig",
    "TrainingJob",
    "Workbench",
    "calibrate",
    "catalog",
    "compare",
    "compare_compilers",
    "compare_environments",
    "find_batch_size",
    "launch",
    "launch_comparison",
    "load_ipython_extension",
    "plan",
    "render",
]


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
