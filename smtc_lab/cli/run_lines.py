"""What ``smtc-lab runs show`` tells of a run, in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.engines import runs_here
from smtc_lab.metrics.result import evidence_of
from smtc_lab.store.identity.notes import read_notes
from smtc_lab.views.text.bill import bill_words, scales_note
from smtc_lab.views.text.emulated import of_run
from smtc_lab.views.text.format import plain
from smtc_lab.views.text.pipeline import pipeline_lines as told_of_pipeline
from smtc_lab.views.text.script import script_words

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.metrics.run_summary import RunSummary
    from smtc_lab.store.run_folder import RunFolder


def job_lines(run: Run) -> list[str]:
    """Return where it ran, what, with what, and what is said of it."""
    job, notes = run.job, read_notes(run.folder)
    given = ", ".join(f"{name}={value}" for name, value in job.hyperparameters.items())
    lines = [f"cluster    {job.cluster}", f"script     {plain(script_words(job))}"]
    told = (("given", given), ("tags", ", ".join(notes.tags)), ("note", notes.note))
    return lines + [f"{name:<11}{plain(text)}" for name, text in told if text]


def evidence_words(records: RunRecords, folder: RunFolder) -> str:
    """Return what its step times are, and how they were emulated."""
    if evidence_of(records.job) == "measured":
        is_here = runs_here(str(read_plan(folder).get("launcher", "")))
        return "measured on this machine" if is_here else "measured"
    return f"emulated, {of_run(records.job)}"


def price_of(folder: RunFolder) -> float | None:
    """Return the price of a run's instances at its launch; None: unknown."""
    price: float | None = read_plan(folder).get("usd_per_hour")
    return price


def cost_words(
    cost_usd: float | None, usd_per_hour: float | None, priced: str, *, billed: bool | None
) -> str:
    """Return what it costs, or why that is not known."""
    if usd_per_hour is None:
        return (
            "none: on this machine, nothing is billed"
            if billed is False
            else "unknown, as a price is unknown"
        )
    if cost_usd is None:
        return "unknown, as there was no step"
    return f"${cost_usd:.4f} at ${usd_per_hour:g}/h, {priced}"


def bill_lines(bill: Bill, emulation: str) -> list[str]:
    """Return where the billed time went; none: there was no step."""
    if bill.steps_s is None:
        return []
    lines = [f"of that    {bill_words(bill)}"]
    if bill.evidence == "emulated":
        lines.append(f"           {scales_note(emulation)}")
    return lines


def pipeline_lines(times: PipelineTimes | None) -> list[str]:
    """Return how the model is cut, and what its stages do; none: it is not cut."""
    told = [] if times is None else told_of_pipeline(times)
    return [f"{'' if place else 'pipeline':<11}{line}" for place, line in enumerate(told)]


_WORTH_TELLING = 0.1
"""Share of a step."""


def summary_lines(summary: RunSummary) -> list[str]:
    """Return steps, step time and utilization."""
    if summary.mean_step_time_s is None or summary.data_wait_fraction is None:
        return ["steps      none measured"]
    wait = f"data wait {summary.data_wait_fraction:.0%}"
    lines = [
        f"steps      {summary.steps} measured, {summary.warm_up_steps} warm-up",
        f"step time  {summary.mean_step_time_s:.4f} s mean, {wait}",
    ]
    between_s = summary.between_steps_s
    if between_s is not None and between_s > _WORTH_TELLING * summary.mean_step_time_s:
        lines.append(
            f"between    {between_s:.4f} s mean from a step's end to the next (evaluating, "
            "logging): in no step time"
        )
    if summary.device_utilization is not None:
        lines.append(f"device     {summary.device_utilization:.0%} busy")
    if summary.cpu_delivered_fraction is not None:
        delivered = f"{summary.cpu_delivered_fraction:.0%} of the asked was delivered"
        lines.append(f"CPU        {delivered}")
    return lines
