"""The SageMaker launcher: every instance is one of the user's AWS account, and is paid for."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import time
from dataclasses import replace
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.launchers.confirmation import require_confirmation
from smtc_lab.launchers.launcher import CheckLine
from smtc_lab.launchers.on_sagemaker.aws.clients import client, region_or_default
from smtc_lab.launchers.on_sagemaker.aws.training_jobs import TrainingJobs
from smtc_lab.launchers.on_sagemaker.live_check import check_account
from smtc_lab.launchers.on_sagemaker.plan import GRACE_S, make_plan
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings, settings_of
from smtc_lab.launchers.on_sagemaker.source import remove_source, upload_source
from smtc_lab.launchers.on_sagemaker.sweep import sweep_jobs
from smtc_lab.launchers.supervision.begin import start_supervisor
from smtc_lab.launchers.supervision.supervised import SupervisedLauncher
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import read_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.launchers.confirmation import Confirmation
    from smtc_lab.launchers.launcher import Handle, LaunchPlan, Leftover, News
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.state import RunState

_OF_AWS = re.compile(
    r"AWS_\w+|(HTTPS?|NO|ALL)_PROXY|REQUESTS_CA_BUNDLE|SSL_CERT_\w+", re.IGNORECASE
)
"""Variables by which boto3 finds credentials, region, endpoint and proxy. They go to the run's
supervisor, which is a process of this user on this machine, and nowhere else."""

_SERVICE_S = 180.0
"""Time that the service may take to end a job beyond its grace."""


class SageMakerLauncher(SupervisedLauncher):
    """Runs a job as a SageMaker training job of the user's AWS account.

    Args:
        root: Folder of runs; None: the default one.
        catalog: Where instance types are looked up; None: the one that comes along.
        confirm: Whether the worst case of what is started may be paid: ``True``, or
            ``"price unknown"`` where the catalog has no price.
        **settings: The fields of ``SageMakerSettings``.
    """

    name = "sagemaker"
    end_limit_s = GRACE_S + _SERVICE_S

    __signature__: ClassVar[Signature] = Signature(
        [
            *(
                Parameter(name, Parameter.KEYWORD_ONLY, default=default)
                for name, default in (("root", None), ("catalog", None), ("confirm", False))
            ),
            *(
                parameter.replace(annotation=Parameter.empty)
                for parameter in Signature.from_callable(SageMakerSettings).parameters.values()
            ),
        ]
    )

    def __init__(
        self,
        *,
        root: StrPath | None = None,
        catalog: Catalog | None = None,
        confirm: Confirmation = False,
        **settings: Any,  # noqa: ANN401  SageMakerSettings checks them
    ) -> None:
        super().__init__(root=root, catalog=catalog)
        self._confirm = confirm
        self._given = settings

    def check(self, job: TrainingJob) -> list[str]:
        """Return every reason why SageMaker cannot run the job, or would refuse it."""
        try:
            self.plan(job)
        except SpecError as error:
            return error.problems
        return []

    def plan(self, job: TrainingJob) -> LaunchPlan:
        """Return the exact CreateTrainingJob request, and what it costs at worst.

        Raises:
            SpecError: SageMaker cannot run the job, or would refuse it; all reasons at once.
        """
        return make_plan(job, SageMakerSettings.of(self._given), self._catalog)

    def check_account(self, *, live: bool) -> Iterator[CheckLine]:
        """Yield what is found of the settings and, where AWS may be asked, of the account.

        Raises:
            SpecError: The settings are not legal; all reasons at once.
        """
        settings = SageMakerSettings.of(self._given)
        yield CheckLine(what="settings", verdict="ok", found=f"legal for {self.name}")
        if live:
            yield from check_account(settings)

    def start(self, plan: LaunchPlan, *, detach: bool = False) -> Handle:
        """Upload the source, create the training job, and return at once.

        A second call with the same plan starts nothing.

        Args:
            plan: What ``plan`` returned.
            detach: Let the job go on when this process ends.

        Raises:
            LauncherError: The cost was not confirmed or exceeds ``max_usd``, or AWS refused
                the job; nothing of it is left.
        """
        require_confirmation(plan, confirm=self._confirm)
        return super().start(_with_region(plan), detach=detach)

    def poll(self, handle: Handle, cursor: dict[str, int] | None = None) -> News:
        """Return what happened since the cursor; None: since the begin."""
        _follow(handle)
        return super().poll(handle, cursor)

    def wait(self, handle: Handle, timeout_s: float | None = None) -> RunState:
        """Wait for the end of a run and return its state; at most ``timeout_s`` seconds."""
        deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            _follow(handle)
            left_s = None if timeout_s is None else deadline - time.monotonic()
            state = super().wait(handle, left_s)
            if state.is_terminal or time.monotonic() >= deadline:
                return state  # else the supervisor was killed, and the job goes on

    def stop(self, handle: Handle, *, grace_s: float | None = None) -> RunState:
        """Stop a run and return its last state. Safe to call again, and on an ended run."""
        _follow(handle)
        return super().stop(handle, grace_s=grace_s)

    def sweep(self, *, stop: bool = False) -> list[Leftover]:
        """Return the training jobs of ours that nobody follows on this machine.

        Args:
            stop: Stop them.

        Raises:
            LauncherError: AWS refused it, or cannot be reached.
        """
        sagemaker = client("sagemaker", self._given.get("region"))
        return sweep_jobs(sagemaker, root=self._root, catalog=self._catalog, stop=stop)

    def _remote(self, plan: LaunchPlan) -> dict[str, str]:
        region = settings_of(plan).region or ""
        return {"training_job_name": str(plan.job.job_name), "region": region}

    def _begin(self, folder: RunFolder, plan: LaunchPlan, *, detach: bool) -> None:
        settings, name = settings_of(plan), str(plan.job.job_name)
        request = plan.facts["sagemaker"]["request"]
        is_new = False
        try:
            s3 = client("s3", settings.region)
            jobs = TrainingJobs(client("sagemaker", settings.region))
            if not jobs.has(request):
                is_new = True
                upload_source(plan, settings, s3, secret=folder.secret_file.read_bytes())
                jobs.create(request)
            start_supervisor(folder, detach=detach, environment=_environment())
        except BaseException as error:
            if is_new:
                with contextlib.suppress(LauncherError):
                    jobs.stop(name)
                with contextlib.suppress(LauncherError):
                    remove_source(settings, name, s3)
            shutil.rmtree(folder.path, ignore_errors=True)  # else its name would be taken
            if isinstance(error, OSError):
                raise LauncherError(f"The run {name!r} was not started: {error}") from error
            raise


def _with_region(plan: LaunchPlan) -> LaunchPlan:
    """Return the plan with its region said outright: boto3 may have another one tomorrow."""
    sagemaker = plan.facts["sagemaker"]
    region = region_or_default(settings_of(plan).region)
    settings = {**sagemaker["settings"], "region": region}
    return replace(plan, facts={**plan.facts, "sagemaker": {**sagemaker, "settings": settings}})


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if _OF_AWS.fullmatch(name)}


def _follow(handle: Handle) -> None:
    """Let a run whose supervisor is gone be followed by a new one; its job went on.

    Raises:
        LauncherError: No supervisor could be started.
    """
    folder = RunFolder(Path(handle.run_folder))
    state = read_state(folder)
    if state.is_terminal or state.is_supervised:
        return
    try:
        start_supervisor(folder, detach=True, environment=_environment())
    except LauncherError:
        if not read_state(folder).is_supervised:  # another process was quicker
            raise
