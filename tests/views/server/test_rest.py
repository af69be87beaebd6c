"""The requests of a browser, to a real server with real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import ViewError
from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.store.state import RunState, write_state
from smtc_lab.views import kept
from smtc_lab.views.widgets.traits.catalog import catalog_json
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder
from tests.kit.runs import processes_after

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.kit.lab_tab import Tab

    Ask = Callable[..., Awaitable[tuple[int, Any]]]
    OpenTab = Callable[[], Awaitable[Tab]]


def job_json(script: str, **values: object) -> dict[str, Any]:
    groups = [{"instance_group_name": "here", "instance_type": "local", "instance_count": 1}]
    return {"entry_point": script, "cluster": {"instance_groups": groups}, **values}


def command_of(pid: int | None) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0")


async def test_the_server_tells_its_version_and_where_runs_lie(ask: Ask, root: Path) -> None:
    told = {"version": smtc_lab.__version__, "protocol": 1, "root": str(root)}

    assert await ask("info") == (200, told)


async def test_the_catalog_is_the_one_that_widgets_have(ask: Ask) -> None:
    status, told = await ask("catalog")

    assert status == 200
    assert told == json.loads(json.dumps(catalog_json(Catalog.load())))


async def test_runs_are_listed_oldest_first(ask: Ask, root: Path) -> None:
    for started_s, name in enumerate(("b-1", "a-2", "c-3"), start=1):
        folder = write_run_folder(root, run_records([0.2], job_name=name))
        write_state(folder, RunState(state="Completed", started_s=started_s))

    _, told = await ask("runs")
    assert [row["name"] for row in told["runs"]] == ["b-1", "a-2", "c-3"]
    _, newest = await ask("runs", params={"last": "1"})
    assert [row["name"] for row in newest["runs"]] == ["c-3"]
    status, refused = await ask("runs", params={"last": "-1"})
    assert (status, refused["message"]) == (
        400,
        "last='-1' is not a number of runs. Give 1 or more.",
    )


async def test_a_run_is_started_watched_and_stopped_by_requests_alone(
    ask: Ask, open_tab: OpenTab, script: str
) -> None:
    job = job_json(script, max_steps=100_000)

    status, started = await ask("runs", body={"kind": "run", "job": job})

    assert status == 201
    run = Run.open(started["name"])
    assert [row["name"] for row in (await ask("runs"))[1]["runs"]] == [run.job_name]
    assert command_of(run.state.supervisor_pid).endswith("--detached")  # it outlives the server
    tab = await open_tab()
    await tab.watch(1, "run-monitor", run.job_name)
    await tab.until(lambda tab: "steps" in tab.tables[1])
    assert (await ask("runs", run.job_name, "bundle"))[0] == 409
    assert (await ask("runs", run.job_name, "stop", body={}))[0] == 202
    await tab.until(lambda tab: tab.values[1]["info"]["ended"])
    assert tab.values[1]["info"]["state"] == "Stopped"
    assert processes_after(run.folder.path) == {}
    status, told = await ask("runs", run.job_name, "stop", body={})
    assert status == 409
    assert "has ended as Stopped, so there is nothing to stop" in told["message"]


async def test_a_comparison_is_started_and_stopped_by_requests_alone(
    ask: Ask, open_tab: OpenTab, script: str
) -> None:
    jobs = [job_json(script, max_steps=100_000) for _ in range(2)]
    for name, job in zip(("one", "other"), jobs, strict=True):
        job["cluster"]["name"] = name
    tab = await open_tab()
    await tab.watch(1, "runs")

    status, started = await ask("runs", body={"kind": "comparison", "jobs": jobs, "rounds": 1})

    assert status == 201
    name = started["name"]
    await tab.watch(2, "comparison-monitor", name)
    await tab.until(lambda tab: "0/steps" in tab.tables[2])
    await tab.until(lambda tab: len(tab.rows) == 2 and tab.rows[name]["steps"])
    assert tab.rows[name]["cluster"] == "one, other"
    assert tab.rows[name]["max_steps"] == 200_000
    assert (await ask("comparisons", name, "stop", body={}))[0] == 202
    await tab.until(lambda tab: tab.values[2]["info"]["ended"])
    await tab.until(lambda tab: tab.rows[name]["state"] == "Stopped")
    assert tab.values[2]["info"]["reason"] == "The comparison was stopped by its user."


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{", "The request is not JSON"),
        ("[" * 100_000, "The request is not JSON"),
        ([], "Only a run {kind: 'run', job}, a comparison"),
        ({"kind": "run", "job": {}}, "entry_point"),
        ({"kind": "run", "job": job_json("gone.py")}, "gone.py' is not a file"),
        ({"kind": "comparison", "jobs": [], "rounds": 1}, "There is no cluster to compare"),
        (
            {"kind": "scaling", "jobs": [], "rounds": 1, "devices": [1]},
            "There is no job to scale",
        ),
        (
            {"kind": "scaling", "jobs": [], "rounds": 1, "devices": ["1"]},
            "a scaling study",
        ),
        (
            {"kind": "run", "job": job_json("train.py", job_name="../up")},
            "job_name '../up' is not 1 to 63 letters",
        ),
        (
            {
                "kind": "run",
                "job": {
                    "entry_point": "train.py",
                    "cluster": {
                        "instance_groups": [
                            {
                                "instance_group_name": "g",
                                "instance_type": "ml.made.up%s",
                                "instance_count": 1,
                            }
                        ]
                    },
                },
            },
            "ml.made.up%s",
        ),
    ],
)
async def test_what_cannot_be_started_is_refused_with_the_reason(
    ask: Ask, root: Path, script: str, body: object, message: str
) -> None:
    assert script == "train.py"

    status, told = await ask("runs", body=body)

    assert status == 400
    assert message in told["message"]
    assert find_runs(root) == []


async def test_the_bundle_of_an_ended_run_is_what_a_notebook_keeps(
    ask: Ask, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run_folder(root, run_records([0.2] * 5))
    # it takes seconds, and has its own tests
    monkeypatch.setattr(kept, "drawn_elsewhere", lambda path: {"of": str(path)})

    assert await ask("runs", "train-r1", "bundle") == (200, {"of": str(folder.path)})


async def test_a_picture_that_fails_is_told(
    ask: Ask, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_folder: object) -> dict[str, Any]:
        raise ViewError("The picture could not be made (100 %s). Display the run again.")

    write_run_folder(root, run_records([0.2]))
    monkeypatch.setattr(kept, "drawn_elsewhere", fail)

    status, told = await ask("runs", "train-r1", "bundle")

    assert status == 409
    assert told == {"message": "The picture could not be made (100 %s). Display the run again."}


async def test_a_failure_of_ours_is_told_without_its_insides(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from smtc_lab.views.server.hub import Hub

    def fail(_hub: Hub, _last: int | None) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(Hub, "rows", fail)

    assert await ask("runs") == (
        500,
        {"message": "The server failed at this. Its log says why."},
    )


async def test_a_damaged_run_is_listed_beside_the_others_and_cannot_be_stopped(
    ask: Ask, root: Path
) -> None:
    write_run_folder(root, run_records([0.2], job_name="good"))
    bad = write_run_folder(root, run_records([0.2], job_name="bad"))
    bad.state_file.write_bytes(b'{"state": ')

    _, told = await ask("runs")

    rows = {row["name"]: row for row in told["runs"]}
    assert rows["good"]["state"] == "Completed"
    assert rows["bad"]["state"] == "Damaged"
    assert "The state of run 'bad' cannot be read" in rows["bad"]["reason"]
    status, refused = await ask("runs", "bad", "stop", body={})
    assert status == 409
    assert "cannot be read" in refused["message"]


async def test_a_run_is_told_as_one_page_without_a_secret(ask: Ask, root: Path) -> None:
    records = run_records([0.2], job_name="a-1")
    folder = write_run_folder(root, records)
    job = records.job.model_copy(update={"environment": {"WORD": "s3cr3t-1"}})
    folder.job_file.write_text(job.to_json())
    opened(folder)

    status, told = await ask("runs/a-1/page")

    assert status == 200
    assert told["html"].startswith("<!doctype html>")
    assert "a-1" in told["html"]
    assert "s3cr3t-1" not in told["html"]
    assert (await ask("runs/b-1/page"))[0] == 404


async def test_runs_are_compared_and_refusals_say_why(ask: Ask, root: Path) -> None:
    for name in ("one", "two"):
        write_run_folder(root, run_records(job_name=name))

    address, asked = ("comparison-of-runs",), {"names": "one,two", "metrics": "1"}
    status, told = await ask(*address, params=asked)
    one = await ask(*address, params={"names": "one"})
    gone = await ask(*address, params={"names": "one,../two"})
    odd = await ask(*address, params={"names": "one,two", "metrics": "-1"})

    assert (status, [run["name"] for run in told["runs"]]) == (200, ["one", "two"])
    assert (one[0], gone[0], odd[0]) == (400, 404, 400)
    assert "2 to 50" in one[1]["message"]
