"""What a notebook has launched goes on without its kernel: real kernels, killed."""

from __future__ import annotations

import signal
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jupyter_client.manager import KernelManager

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import studies_root
from tests.kit.runs import processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_client.blocking import BlockingKernelClient

pytestmark = pytest.mark.filterwarnings("default")  # jupyter_client's own

FILE = """
from pathlib import Path
import smtc_lab as lab
%load_ext smtc_lab
Path("train.py").write_text("import time; time.sleep(600)")
cluster = lab.Cluster.parse("one@here=local:1")
other = lab.Cluster.parse("two@here=local:1")
jobs = [lab.TrainingJob(entry_point="train.py", cluster=each) for each in (cluster, other)]
"""
PAIR = "--cluster one@a=local:1 --cluster two@b=local:1"
ENDLESS = "import time; time.sleep(600)\n"


@pytest.fixture
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    for name in _studies():
        ComparisonRun.open(name).stop()


def _studies() -> list[str]:
    return [path.parent.name for path in studies_root().glob("*/request.json")]


def _killed(kernel: tuple[KernelManager, BlockingKernelClient], cell: str) -> Run:
    """Run a cell, wait for its launch, kill the kernel, and return what was launched."""
    manager, client = kernel
    for code in (FILE, cell):
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda _: None)
        assert reply["content"]["status"] == "ok", reply["content"]
    wait_until(
        lambda: any(folder.handle_file.is_file() for folder in find_runs()), what="the launch"
    )
    run = Run.open(find_runs()[0].job_name)
    wait_until(lambda: run.status == "InProgress", what="the begin of the run")
    assert manager.provisioner is not None
    manager.provisioner.process.send_signal(signal.SIGKILL)
    manager.provisioner.process.wait(10)
    return run


def _stop(name: str) -> str:
    program = Path(sysconfig.get_path("scripts")) / "smtc-lab"
    done = subprocess.run(
        [program, "runs", "stop", name], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


@pytest.mark.parametrize(
    "cell", ["run = lab.launch(jobs[0])", f"%%smtc\n{ENDLESS}", "%smtc run train.py"]
)
def test_a_run_goes_on_until_it_is_stopped_by_name(
    kernel: tuple[KernelManager, BlockingKernelClient], cell: str
) -> None:
    run = _killed(kernel, cell)

    run._launcher.wait(run.handle, 2.0)
    assert run.status == "InProgress"
    assert processes_of(run.folder.path)

    told = _stop(run.job_name)

    assert "Stopped. The run was stopped by its user." in told
    assert processes_after(run.folder.path) == {}


@pytest.mark.parametrize(
    "cell", ["study = lab.launch_comparison(jobs)", f"%%smtc {PAIR}\n{ENDLESS}"]
)
def test_a_comparison_goes_on_until_it_is_stopped_by_name(
    kernel: tuple[KernelManager, BlockingKernelClient], cell: str
) -> None:
    run = _killed(kernel, cell)
    (name,) = _studies()

    run._launcher.wait(run.handle, 2.0)
    assert (ComparisonRun.open(name).status, run.status) == ("InProgress", "InProgress")

    assert "Stopped" in _stop(name)

    assert ComparisonRun.open(name).status == "Stopped"
    assert processes_after(run.folder.path) == {}


@pytest.mark.parametrize(
    "cell",
    ["run = lab.launch(jobs[0], detach=False)", f"%%smtc --no-detach\n{ENDLESS}"],
)
def test_what_is_not_detached_ends_with_its_kernel(
    kernel: tuple[KernelManager, BlockingKernelClient], cell: str
) -> None:
    run = _killed(kernel, cell)

    assert processes_after(run.folder.path) == {}
    assert run.status == "Stopped"
    assert "process that launched the run ended" in run.state.reason
