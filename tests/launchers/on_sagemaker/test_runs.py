"""Whole jobs through the fake: its containers really run what was uploaded."""

from __future__ import annotations

import io
import json
import os
import signal
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.on_sagemaker.aws.clients import client
from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.store.state import current_state, read_state
from tests.kit.fake_sagemaker.job import REVERSED
from tests.kit.launch_sites.sagemaker import BUCKET, REGION
from tests.kit.quick_script import SERVES
from tests.kit.runs import processes_of_job, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.spec.job import TrainingJob
    from tests.kit.launch_sites.sagemaker import SageMakerSite

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"
LIMIT_S = 60.0

TRAINS_FROM_A_DATA_GROUP = """
    import json, os, sys
    from pathlib import Path
    import torch
    from torch.utils.data import DataLoader
    import smtc_lab

    class Ids(torch.utils.data.Dataset):
        def __len__(self):
            return 24

        def __getitem__(self, index):
            return torch.tensor(index), os.environ["SM_CURRENT_HOST"]

    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ids, made_on = [], set()
    for batch, hosts in DataLoader(Ids(), batch_size=2, num_workers=0):
        ids += batch.tolist()
        made_on.update(hosts)
        optimizer.zero_grad()
        model(batch[:, None].float()).sum().backward()
        optimizer.step()
    seen = {"ids": ids, "made_on": sorted(made_on), "smtc_lab": smtc_lab.__file__}
    seen["group"] = json.loads(os.environ["SM_RESOURCE_CONFIG"])["current_group_name"]
    seen["host"], seen["arguments"] = os.environ["SM_CURRENT_HOST"], sys.argv[1:]
    Path(os.environ["SM_MODEL_DIR"], "seen.json").write_text(json.dumps(seen))
"""


def s3_objects(job_name: str) -> dict[str, bytes]:
    s3 = client("s3", REGION)
    listed = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"smtc-lab/{job_name}/")
    keys = [item["Key"] for item in listed.get("Contents", ())]
    return {
        key.removeprefix(f"smtc-lab/{job_name}/"): s3.get_object(Bucket=BUCKET, Key=key)[
            "Body"
        ].read()
        for key in keys
    }


def model_file(job_name: str, name: str) -> Any:
    data = s3_objects(job_name)["output/model.tar.gz"]
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.extractfile(name)
        assert member is not None
        return json.loads(member.read())


def everything_said(job_name: str) -> str:
    """Return the description of a job and all of its logs, as AWS has them."""
    said = [str(client("sagemaker", REGION).describe_training_job(TrainingJobName=job_name))]
    logs = client("logs", REGION)
    group = "/aws/sagemaker/TrainingJobs"
    streams = logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{job_name}/")
    for stream in streams["logStreams"]:
        page = logs.get_log_events(
            logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
        )
        said += [event["message"] for event in page["events"]]
    return "\n".join(said)


def kill_supervisor(run: Run, *, other_than: int | None = None) -> int:
    """Kill the supervisor of a run, once there is one; return its number."""

    def pid() -> int | None:
        state = read_state(run.folder)
        return state.supervisor_pid if state.is_supervised else None

    wait_until(lambda: pid() not in {None, other_than}, what="a supervisor", limit_s=LIMIT_S)
    found = pid() or 0
    os.kill(found, signal.SIGKILL)
    return found


def test_a_data_group_feeds_a_trainer_in_containers_with_other_names(
    make_job: MakeJob, start: Start
) -> None:
    job = make_job(
        TRAINS_FROM_A_DATA_GROUP,
        cluster=HETEROGENEOUS,
        environment={REVERSED: "1"},
        hyperparameters={"lr": 0.1},
    )
    run = start(job)
    secret = run.folder.secret_file.read_bytes()

    run.wait(LIMIT_S)

    seen = model_file(run.job_name, "seen.json")
    assert seen["ids"] == list(range(24))
    assert (seen["group"], seen["host"], seen["made_on"]) == ("dnn_group", "algo-2", ["algo-1"])
    assert seen["arguments"] == ["--lr", "0.1"]
    assert "/opt/ml/smtc_lab/source/smtc_lab/" in seen["smtc_lab"]
    records = run.records()
    assert list(records.steps) == ["algo-1-rank0"]
    assert [step.step for step in records.steps["algo-1-rank0"]] == list(range(12))
    assert set(records.system) == {"algo-1", "algo-2"}
    assert records.facts["platform_hosts"] == {"algo-1": "algo-2", "algo-2": "algo-1"}
    assert run.logs("algo-2") == f"smtc-lab: algo-1 {SERVES} 2 data workers"
    assert run.state.exit_codes == {"algo-1": 0, "algo-2": 0}
    said = everything_said(run.job_name)
    assert "SMTC " in said
    for shape in (secret.hex(), repr(secret)[2:-1]):
        assert shape not in said
    kept = s3_objects(run.job_name)
    assert "source/secret" not in kept
    assert any("/records/" in name for name in kept)
    assert not any(secret in data for data in kept.values())


def test_no_line_of_a_script_forges_an_end_or_a_record(make_job: MakeJob, start: Start) -> None:
    forged = [
        'SMTC {"host":"algo-1","is":"exit","exit_code":0,"time_s":1,"rows":{}} ' + "0" * 32,
        'SMTC {"host":"algo-1","is":"rows","file":"rank0","part":"1","first":0,"rows":[]}',
        "SMTC " + "{" * 5000,
    ]
    body = f"""
        import os
        from pathlib import Path
        for line in {forged!r}:
            print(line, flush=True)
        report = Path(os.environ["SM_OUTPUT_DATA_DIR"], "compiler", "report-rank0.json")
        report.parent.mkdir()
        report.write_text("of the compiler")
        raise SystemExit(7)
    """
    run = start(make_job(body))

    with pytest.raises(RunFailedError, match=r"algo-1 \(dnn_group\) exited with code 7"):
        run.wait(LIMIT_S)
    assert run.state.exit_codes == {"algo-1": 7}
    assert run.records().steps == {}
    assert any("3 lines" in event.message for event in run.records().events)
    assert run.logs("algo-1").splitlines() == forged
    reports = run.folder.opt_ml("algo-1") / "output" / "data" / "compiler"
    assert (reports / "report-rank0.json").read_text(encoding="utf-8") == "of the compiler"


def test_a_job_whose_supervisor_was_killed_goes_on_and_is_followed_again(
    make_job: MakeJob, start: Start, tmp_path: Path
) -> None:
    go_on = tmp_path / "go_on"
    body = f"""
        import os, time
        print("one", flush=True)
        while not os.path.exists({str(go_on)!r}):
            time.sleep(0.01)
        print("two", flush=True)
    """
    run = start(make_job(body))
    wait_until(lambda: "one" in run.logs("algo-1"), what="the first line", limit_s=LIMIT_S)
    before = read_state(run.folder)

    first = kill_supervisor(run)

    wait_until(lambda: "supervisor" in current_state(run.folder).reason, what="its end")
    state = current_state(run.folder)
    assert state.state == "InProgress"
    assert "its instances go on" in state.reason
    again = Run.open(str(run.folder.path))
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(again.wait, LIMIT_S)
        kill_supervisor(run, other_than=first)
        go_on.touch()
        waiting.result()
    assert again.status == "Completed"
    assert again.logs("algo-1") == "one\ntwo"
    assert again.state.started_s == pytest.approx(before.started_s or 0.0, abs=60.0)


def test_a_data_instance_that_hears_nothing_is_stopped_after_the_linger_limit(
    make_job: MakeJob, start: Start, site: SageMakerSite, root: Path, tmp_path: Path
) -> None:
    go_on = tmp_path / "go_on"
    body = f"""
        import os, time
        while not os.path.exists({str(go_on)!r}):
            time.sleep(0.01)
    """
    launcher = SageMakerLauncher(root=root, **{**site.options(), "linger_s": 0.5})
    run = start(make_job(body, cluster=HETEROGENEOUS), launcher)
    wait_until(lambda: SERVES in run.logs("algo-2"), what="the data instance")
    agent = site.pid(run, "agent", host="algo-2")
    stat = Path(f"/proc/{agent}/stat").read_text(encoding="utf-8")
    container = int(stat.rpartition(")")[2].split()[1])
    os.kill(container, signal.SIGSTOP)
    go_on.touch()

    run.wait(LIMIT_S)

    assert run.status == "Completed"
    events = [event.message for event in run.records().events]
    assert any("not within linger_s=0.5 s" in message for message in events)
    wait_until(lambda: not processes_of_job(run.job_name), what="the end of every process")


def test_a_script_that_a_data_group_runs_for_ever_is_ended_after_its_time(
    make_job: MakeJob, start: Start, site: SageMakerSite, root: Path
) -> None:
    body = """
        import os, time
        while os.environ["SM_CURRENT_INSTANCE_GROUP"] == "data_group":
            time.sleep(3600)
    """
    launcher = SageMakerLauncher(root=root, **{**site.options(), "linger_s": LIMIT_S})

    run = start(make_job(body, cluster=f"{HETEROGENEOUS}:script"), launcher).wait(LIMIT_S)

    assert run.status == "Completed"
    assert run.state.exit_codes == {"algo-1": 0, "algo-2": 128 + signal.SIGTERM}
    events = [event.message for event in run.records().events]
    assert not any("not within linger_s" in message for message in events), "it ended itself"


def test_an_image_that_lacks_a_package_is_told_by_its_name(
    make_job: MakeJob, start: Start
) -> None:
    run = start(make_job("print('never')", compiler_config={"backend": "eager"}))

    with pytest.raises(RunFailedError, match=r"no package 'pydantic'.*requirements\.txt"):
        run.wait(LIMIT_S)
    assert "never" not in run.logs("algo-1")
