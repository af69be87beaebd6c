"""Watches over the instances of one run that are this machine's to start and to end.

Starts them, ends them together, starts them again where they were taken away, and has the last
word.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import InstanceLostError, LauncherError
from smtc_lab.instance.plan import LEAVE_S, runs_script
from smtc_lab.instance.progress import num_signs
from smtc_lab.instance.variables import ATTEMPT_VARIABLE
from smtc_lab.launchers.supervision.cluster_clock import ClusterClock
from smtc_lab.launchers.supervision.gang import Exit, Outcome, goes_on_without, outcome
from smtc_lab.launchers.supervision.interrupts import Interrupts
from smtc_lab.launchers.supervision.kept_files import bring_to_all, forget_attempt
from smtc_lab.launchers.supervision.market import MarketClock, of_interruptions
from smtc_lab.launchers.supervision.run_keeper import RunKeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from smtc_lab.launchers.supervision.instances import Instances
    from smtc_lab.store.run_folder import RunFolder

_LOOK_S = 0.02
_SEEN_LATE_S = 1.0
"""A killed agent is seen late on a busy machine, and other trainers fail over it soon."""


class Supervisor:
    """Watches over one run from its begin to the death of its last process.

    Args:
        folder: The run's folder.
        plan: What was asked for each instance; ``plan.json``.
        make: Makes the instances of an attempt, not started yet; called at once for the first.
        interrupts: What ends the run from outside.
    """

    def __init__(
        self,
        folder: RunFolder,
        plan: Mapping[str, Any],
        *,
        make: Callable[[], Instances],
        interrupts: Interrupts,
    ) -> None:
        self._folder = folder
        self._roles = {item["host"]: item["role"] for item in plan["instances"]}
        self._groups = {item["host"]: item["instance_group_name"] for item in plan["instances"]}
        self._scripted = {item["host"] for item in plan["instances"] if runs_script(item)}
        self._make = make
        self._instances = make()
        self._interrupts = interrupts
        self._exits: dict[str, Exit] = {}
        self._spared: set[str] = set()
        self._is_ending = False
        self._signs_before = 0
        spot = plan.get("spot")  # an older smtc_lab wrote none
        self._is_spot = spot is not None
        self._market: MarketClock | None = None
        if spot and (told := spot["market"]) is not None:
            self._market = MarketClock(told, num_instances=len(self._roles), seed=spot["seed"])
        os.environ.update(of_interruptions(self._market, (spot or {}).get("dilation", 1.0)))
        self._keeper = RunKeeper(folder, hosts=self._roles, facts=plan["facts"])

    def run(self) -> None:
        """Run the job to its end, in as many attempts as it takes."""
        ended = Outcome(state="Failed", reason="The instances could not be started.")
        try:
            ended = self._attempts()
        finally:
            if ended.state == "Interrupted":  # the next attempt is somebody else's to start
                self._keeper.leave()
            else:
                last_words = self._instances.last_words
                words = last_words(ended.host, ended.rank) if ended.host else ""
                self._keeper.finish(ended, last_words=words)

    def _attempts(self) -> Outcome:
        self._keeper.take_over()
        early = self._await_instances(after_loss=False)
        while early is None:
            self._begin()
            if (ended := self._attempt()).state != "Interrupted":
                return ended
            self._keeper.interrupted(ended.reason)
            early = self._await_instances(after_loss=True)
            if early is None:
                self._instances = self._make()
                early = self._reserve()
        return early

    def _reserve(self) -> Outcome | None:
        """Wait for machines; return why the run ends before there are some, None: there are."""
        try:
            early = self._instances.reserve()
        except LauncherError as error:
            early = Outcome(state="Failed", reason=str(error))
        if early is not None:
            self._instances.end()
        return early

    def _begin(self) -> None:
        self._exits.clear()
        self._spared.clear()
        self._is_ending = False
        self._keeper.begin()
        number = self._keeper.num_attempts
        os.environ[ATTEMPT_VARIABLE] = str(number)
        if number > 1:
            for host in self._roles:
                forget_attempt(self._folder, host)
            is_told = {host for host, role in self._roles.items() if role == "train"}
            if caution := bring_to_all(self._folder, sorted(is_told | self._scripted)):
                self._keeper.event("warning", "", caution)

    def _attempt(self) -> Outcome:
        """Start the instances, and return how they ended, once nothing of them is left."""
        interrupts = self._interrupts
        interrupts.interruption_at_s = math.inf
        if interrupts.clock.waits_for_steps:
            self._signs_before = num_signs(self._folder, self._roles)
        if self._market is not None:
            now_s = interrupts.clock.now_s
            interrupts.interruption_at_s = self._market.next_interruption_s(now_s)
        ended = Outcome(state="Failed", reason="The instances could not be started.")
        try:
            self._keeper.learn(self._instances.start())
            self._keeper.training()
            ended = self._watch()
        except InstanceLostError as error:
            ended = Outcome(
                state="Interrupted" if self._is_spot else "Failed", reason=str(error)
            )
        except LauncherError as error:
            ended = Outcome(state="Failed", reason=str(error))
        finally:
            if ended.state == "Stopped":
                self._keeper.stopping(ended.reason)
            self._is_ending = True
            interrupts.clock.take_none()
            self._instances.end()
            self._collect_exits()
            if ended.host:  # by now all have told when they failed
                ended = self._outcome() or ended
            if self._instances.wake_fd is not None:
                interrupts.forget(self._instances.wake_fd)
        return self._unless_lost(ended) if self._is_spot else ended

    def _unless_lost(self, ended: Outcome) -> Outcome:
        """Return how an attempt of a spot job ended, given the instances that it lost.

        Trainers fail when one that they talk to is gone, mostly before that is known. What a
        trainer saved at its end is lost with its instance, too.
        """
        if ended.state not in {"Failed", "Completed"}:
            return ended
        for host, why in self._instances.lost().items():
            is_needed = ended.state == "Failed" or self._roles[host] == "train"
            if is_needed and host not in self._spared:
                return Outcome(state="Interrupted", reason=why)
        return ended

    def _watch(self) -> Outcome:
        """Wait until something decides how the attempt ends.

        Data instances that run the script may end by themselves after the trainers.
        """
        if self._instances.wake_fd is not None:
            self._interrupts.listen_to([self._instances.wake_fd])
        until_s = math.inf
        while True:
            left_s = min(until_s - time.monotonic(), self._look_for_steps())
            interrupted = self._interrupts.wait(
                None if left_s == math.inf else max(0.0, left_s)
            )
            self._collect_exits()
            ended = self._outcome() or interrupted
            if ended is None:
                continue
            staying = self._scripted - self._exits.keys()
            if interrupted is not None or ended.state != "Completed" or not staying:
                return ended
            until_s = min(until_s, time.monotonic() + LEAVE_S)
            if time.monotonic() >= until_s:
                self._say_ended(staying)
                return ended

    def _look_for_steps(self) -> float:
        """Let the clock go as steps do once there are some; return when to look again."""
        if not self._interrupts.clock.waits_for_steps:
            return math.inf
        if num_signs(self._folder, self._roles) == self._signs_before:
            return _LOOK_S  # they are counted in memory, of which nobody tells
        self._interrupts.clock.take_steps()
        self._keeper.takes_steps()
        return math.inf

    def _outcome(self) -> Outcome | None:
        """Return how the attempt ends, given the instances that have ended; None: it goes on.

        Of a spot job an agent that was killed is an instance that is gone.
        """
        exits = {host: ended for host, ended in self._exits.items() if host not in self._spared}
        ended = outcome(exits, self._roles, self._groups)
        if ended is None or not ended.host or not self._is_spot:
            return ended
        killed_by = self._exits[ended.host].agent_signal
        if killed_by is None:
            return ended
        where = f"{ended.host} ({self._groups[ended.host]})"
        return Outcome(
            state="Interrupted",
            reason=(
                f"The agent of {where} was killed by signal {killed_by}: its instance is lost, "
                "as by a spot interruption."
            ),
        )

    def _await_instances(self, *, after_loss: bool) -> Outcome | None:
        """Wait until there are instances; return why the run ends before, None: there are."""
        if self._market is None:
            return None
        now_s = self._interrupts.clock.now_s
        until_s = self._market.next_capacity_s(now_s, after_loss=after_loss)
        if until_s == math.inf and not self._interrupts.has_max_wait:
            return Outcome(state="Failed", reason=self._market.never_again)
        return self._interrupts.wait_for_instances(until_s)

    def _collect_exits(self) -> None:
        """Take note of the instances that have ended."""
        for host, ended in self._instances.ended().items():
            self._exits[host] = self._timed(ended.exit)
            if self._is_spot and goes_on_without(host, ended.exit, self._roles, self._scripted):
                self._spare(host)
            self._keeper.instance_ended(host, ended)

    def _say_ended(self, staying: Iterable[str]) -> None:
        for host in sorted(staying):
            self._keeper.event(
                "warning",
                host,
                f"{host} ({self._groups[host]}) still ran the script {LEAVE_S:g} s after all "
                "trainers had ended, so it was ended.",
            )

    def _spare(self, host: str) -> None:
        """Go on without an instance that was taken away, until the next attempt."""
        self._spared.add(host)
        if not self._is_ending:
            self._keeper.event(
                "warning",
                host,
                f"{host} ({self._groups[host]}) is lost, as by a spot interruption. Training "
                "goes on: the trainers prepare the batches that it would have.",
            )

    def _timed(self, ended: Exit) -> Exit:
        """Return an end with its time, where an agent was killed and could not say it."""
        if ended.agent_signal is None or self._is_ending:
            return ended
        return replace(ended, failed_at_s=time.time() - _SEEN_LATE_S)


def supervise_instances(
    folder: RunFolder,
    plan: Mapping[str, Any],
    *,
    detached: bool,
    sees_steps: bool = True,
    of: Callable[[RunFolder, Mapping[str, Any], Interrupts], Instances],
) -> None:
    """Supervise a run whose instances can be made from its plan.

    Args:
        folder: The run's folder.
        plan: ``plan.json``.
        detached: Whether the run goes on without the process that launched it.
        sees_steps: Whether counters of the trainers lie on this machine; else its clock is that
            of the run, too.
        of: Makes the instances of an attempt; called first once what ends the run is heard.
    """
    spot, limit_s = plan.get("spot") or {}, float(plan["max_runtime_s"])
    interrupts = Interrupts(
        limit_s=limit_s, detached=detached, max_wait_s=spot.get("max_wait_s")
    )
    interrupts.clock = ClusterClock(spot.get("dilation", 1.0) if sees_steps else 1.0)
    Supervisor(
        folder, plan, make=lambda: of(folder, plan, interrupts), interrupts=interrupts
    ).run()
