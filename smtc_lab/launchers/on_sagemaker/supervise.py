"""Follows one training job of SageMaker: the supervisor of a run whose instances are there.

It stops the job when the run is to end, and mirrors what the job says. The job does not need
it: when it is gone the job goes on, within its own time limit, and another one may follow it.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError, SmtcLabError, StoreError
from smtc_lab.launchers.on_sagemaker.aws.clients import client
from smtc_lab.launchers.on_sagemaker.aws.cloudwatch import LogStreams
from smtc_lab.launchers.on_sagemaker.aws.training_jobs import TrainingJobs
from smtc_lab.launchers.on_sagemaker.leftovers import fetch_leftovers
from smtc_lab.launchers.on_sagemaker.mirror import JobMirror
from smtc_lab.launchers.on_sagemaker.outcome import (
    attempts_told,
    exit_of,
    job_outcome,
    trainers_are_done,
)
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
from smtc_lab.launchers.on_sagemaker.source import remove_secret
from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.launchers.supervision.instances import InstanceEnd
from smtc_lab.launchers.supervision.interrupts import Interrupts
from smtc_lab.launchers.supervision.last_words import with_last_lines
from smtc_lab.launchers.supervision.run_keeper import RunKeeper
from smtc_lab.store.state import OUTLIVES_SUPERVISOR, read_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.store.run_folder import RunFolder

_TOLD = ("SecondaryStatus", "SecondaryStatusTransitions")
_LONGEST_PAUSE_S = 60.0
_LAST_LOOKS = 6
"""CloudWatch is late: so many looks, at most, are made for lines after the end of a job."""
_MISSING_LIMIT_S = 60.0


def supervise(folder: RunFolder, plan: Mapping[str, Any], *, detached: bool) -> None:
    """Follow the training job of a run to its end.

    Args:
        folder: The run's folder.
        plan: ``plan.json``.
        detached: Whether the job goes on without the process that launched it.
    """
    interrupts = Interrupts(limit_s=math.inf, detached=detached)  # SageMaker keeps the time
    settings = SageMakerSettings.model_validate(plan["facts"]["sagemaker"]["settings"])
    _Follower(folder, plan, settings, interrupts).run()


class _Follower:
    """One run's training job, from now to its end."""

    def __init__(
        self,
        folder: RunFolder,
        plan: Mapping[str, Any],
        settings: SageMakerSettings,
        interrupts: Interrupts,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._request = plan["facts"]["sagemaker"]["request"]
        self._interrupts = interrupts
        self._name = folder.job_name
        self._roles = {item["host"]: item["role"] for item in plan["instances"]}
        self._groups = {item["host"]: item["instance_group_name"] for item in plan["instances"]}
        self._jobs = TrainingJobs(client("sagemaker", settings.region))
        self._s3 = client("s3", settings.region)
        self._streams = LogStreams(client("logs", settings.region), self._name)
        self._mirror = JobMirror(folder, self._roles)
        known = read_state(folder)
        self._begun_s = known.started_s
        self._num_interrupted = sum(bool(one.interrupted_by) for one in known.attempts)
        self._keeper = RunKeeper(
            folder, hosts=self._roles, facts={**plan["facts"], OUTLIVES_SUPERVISOR: True}
        )
        self._found: dict[str, Any] = {}
        self._wanted: Outcome | None = None
        self._is_stopped = False
        self._done_s: float | None = None
        self._missing_s: float | None = None
        self._pause_s = settings.poll_s
        self._troubles: set[str] = set()
        self._known_exits: dict[str, object] = {}

    def run(self) -> None:
        """Follow the job to its end."""
        self._keeper.take_over()
        self._keeper.started(time.time() if self._begun_s is None else self._begun_s)
        while (ended := self._look()) is None:
            self._stop_if_wanted()
            self._wait()
        if self._found:
            self._take_what_is_late()
            ended = self._outcome() or ended
        self._settle()
        self._say_billed()
        started, stopped = (self._found.get(f"Training{what}Time") for what in ("Start", "End"))
        if started is not None:
            self._keeper.started(started.timestamp())
        self._keeper.finish(
            ended,
            last_words=self._last_words(ended.host),
            ended_s=stopped.timestamp() if stopped is not None else None,
        )

    def _settle(self) -> None:
        """Close what was mirrored, and say what of it is not as it should be."""
        try:
            if lost := self._mirror.settle():
                self._keeper.event(
                    "warning", "", f"{lost} records never arrived from SageMaker."
                )
        except StoreError as error:
            self._say_trouble(error)
        if refused := self._mirror.num_refused:
            self._keeper.event(
                "warning",
                "",
                f"{refused} lines of the log look like records of this run, but are not, and "
                "were not taken for any.",
            )

    def _look(self) -> Outcome | None:
        """Look at the job once; return how it ended, None: it has not, as far as is known."""
        try:
            found = self._jobs.find(self._name)
            if found is None:
                return self._is_missing()
            self._note(found)
            self._look_at_logs()
        except (LauncherError, StoreError) as error:
            self._say_trouble(error)
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
            return None
        self._pause_s = self._settings.poll_s
        return self._outcome()

    def _outcome(self) -> Outcome | None:
        return job_outcome(
            self._found,
            self._mirror.exits,
            roles=self._roles,
            groups=self._groups,
            wanted=self._wanted,
        )

    def _is_missing(self) -> Outcome | None:
        now_s = time.monotonic()
        self._missing_s = now_s if self._missing_s is None else self._missing_s
        if now_s - self._missing_s < _MISSING_LIMIT_S:  # it may have been created just now
            return None
        return Outcome(
            state="Failed",
            reason=(
                f"SageMaker knows no training job {self._name!r} in this region. Look whether "
                "it was created, and with which account."
            ),
        )

    def _note(self, found: dict[str, Any]) -> None:
        """Keep what is new of the job as a whole."""
        before, self._found = self._found, found
        if all(before.get(name) == found.get(name) for name in _TOLD):
            return
        status = found["SecondaryStatus"]
        self._keeper.event("state", "", f"SageMaker: {status}")
        self._keeper.learn({"sagemaker_status": status} | _billed(found))
        attempts = attempts_told(found)
        self._keeper.tell(status, attempts)
        for number, attempt in enumerate(attempts, start=1):
            if attempt.interrupted_by and number > self._num_interrupted:
                words = f"Attempt {number} was interrupted. {attempt.interrupted_by}"
                self._keeper.event("interruption", "", words)
                self._num_interrupted = number

    def _look_at_logs(self) -> None:
        """Mirror what the job has said since, and keep what it tells of its instances."""
        known = dict(self._mirror.platform_hosts)
        for stream, lines in self._streams.look():
            self._mirror.take(stream, lines)
        if self._mirror.platform_hosts != known:
            self._keeper.learn({"platform_hosts": dict(self._mirror.platform_hosts)})
        for host, said in self._mirror.exits.items():
            if self._known_exits.get(host) is not said:
                self._known_exits[host] = said
                problems = tuple(said.get("problems", ()))
                self._keeper.instance_ended(
                    host, InstanceEnd(exit=exit_of(said), problems=problems)
                )

    def _stop_if_wanted(self) -> None:
        """Ask SageMaker to stop the job, where this side wants its end."""
        if self._wanted is None and trainers_are_done(self._mirror.exits, self._roles):
            now_s = time.monotonic()
            self._done_s = now_s if self._done_s is None else self._done_s
            if now_s - self._done_s >= self._settings.linger_s:
                self._wanted = Outcome(state="Completed", reason="")
                self._keeper.event(
                    "warning",
                    "",
                    "The trainers had ended, but data instances had not within linger_s="
                    f"{self._settings.linger_s:g} s, so the training job was stopped.",
                )
        if self._wanted is None or self._is_stopped:
            return
        try:
            self._jobs.stop(self._name)
            self._is_stopped = True
        except LauncherError as error:
            self._say_trouble(error)

    def _wait(self) -> None:
        """Wait for the time of the next look, or for a reason to end the run."""
        if self._wanted is not None:
            time.sleep(self._pause_s)  # the service has no event, and a reason is there already
            return
        self._wanted = self._interrupts.wait(self._pause_s)
        if self._wanted is not None:
            self._keeper.stopping(self._wanted.reason)
            self._pause_s = self._settings.poll_s

    def _take_what_is_late(self) -> None:
        """Take what was said before the end and arrives after it."""
        has_begun = self._found.get("TrainingStartTime") is not None
        for _ in range(_LAST_LOOKS if has_begun else 1):
            try:
                self._look_at_logs()
            except (LauncherError, StoreError) as error:
                self._say_trouble(error)
            if set(self._mirror.exits) == set(self._roles):
                break
            time.sleep(self._settings.poll_s)  # CloudWatch has no event
        try:
            kept = self._request["CheckpointConfig"]["S3Uri"]
            fetch_leftovers(self._folder, self._mirror, kept, self._s3)
            remove_secret(self._settings, self._name, self._s3)
        except (LauncherError, StoreError) as error:
            self._say_trouble(error)

    def _say_billed(self) -> None:
        """Say what the job is billed for, in the words of SageMaker's SDK."""
        billed, count = _billed(self._found), len(self._roles)
        if len(billed) < len(_BILLED):
            return
        training_s, billable_s = (count * int(seconds) for seconds in billed.values())
        words = f"Training seconds: {training_s}. Billable seconds: {billable_s}."
        if self._request.get("EnableManagedSpotTraining") and training_s:
            words += f" Managed Spot Training savings: {1 - billable_s / training_s:.1%}."
        self._keeper.event("state", "", words)

    def _last_words(self, host: str) -> str:
        """Return what an entry point said of its failure, and the end of its log."""
        if not host:
            return ""
        failure = str(self._mirror.exits[host].get("failure", ""))
        return with_last_lines(failure, self._folder.log_file(host))

    def _say_trouble(self, error: SmtcLabError) -> None:
        """Keep an error of AWS as an event, once: the job itself goes on."""
        kind = getattr(error, "code", str(error))  # AWS numbers the texts of its errors
        if kind not in self._troubles:
            self._troubles.add(kind)
            self._keeper.event("warning", "", str(error))


_BILLED = {"TrainingTimeInSeconds": "training_s", "BillableTimeInSeconds": "billable_s"}


def _billed(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what SageMaker says of the time that is paid for, in seconds."""
    return {ours: found[theirs] for theirs, ours in _BILLED.items() if theirs in found}
