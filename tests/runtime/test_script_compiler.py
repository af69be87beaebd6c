"""Unmodified scripts under the compiler, in processes of their own as an agent starts them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import ScriptRun

    Run = Callable[..., ScriptRun]

SCRIPT = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 8)
            self.outer = nn.Linear(8, 2)

        def forward(self, x):
            return self.outer(torch.relu(self.inner(x)))

    torch.manual_seed(1)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.randn(24, 4), batch_size=4)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        print("loss", f"{loss.item():.6f}")
    model.eval()
    with torch.no_grad():
        model(torch.ones(3, 4))
    print("fused", optimizer.param_groups[0]["fused"])
    print("call", nn.Module.__call__.__name__)
    print("init", torch.optim.Optimizer.__init__.__name__)
"""


@pytest.fixture
def run(run_script: Run) -> Run:
    """Return a function that runs a script with some settings of the compiler."""

    def run_with(config: dict[str, Any] | None, body: str = SCRIPT, **more: str) -> ScriptRun:
        return run_script(
            body,
            **more,
            OMP_NUM_THREADS="1",
            SMTC_COMPILER=json.dumps(config) if config else "",
        )

    return run_with


def losses_of(ended: ScriptRun) -> list[str]:
    return [line for line in ended.printed.splitlines() if line.startswith("loss")]


def report_of(ended: ScriptRun) -> dict[str, Any]:
    folder = ended.folder.opt_ml("algo-1") / "output" / "data" / "compiler"
    report: dict[str, Any] = json.loads((folder / "report-rank0.json").read_text("utf-8"))
    return report


def test_without_settings_nothing_of_the_compiler_is_imported(run: Run) -> None:
    ended = run(
        None,
        SCRIPT
        + """
    import sys
    print([name for name in sys.modules if name.startswith("smtc_lab.compiler")])
""",
    )

    assert ended.printed.endswith("fused None\ncall _wrapped_call_impl\ninit __init__\n[]\n")
    assert len(ended.steps) == 6


def test_an_eager_script_gets_its_optimizer_fused_and_torch_given_back(run: Run) -> None:
    ended = run({"backend": "eager"})

    assert ended.exit_code == 0, ended.errors
    assert "fused True\ncall _wrapped_call_impl\ninit __init__" in ended.printed
    report = report_of(ended)
    assert (report["backend"], report["fused_optimizer"]) == ("eager", True)
    assert report["fell_back_because"] is None
    assert len(ended.steps) == 6


def test_a_script_that_cannot_be_compiled_ends_with_one_message(run: Run) -> None:
    ended = run({"backend": "inductor", "cache": False}, CXX="/no/such/compiler")

    assert ended.exit_code == 1
    assert ended.failure is not None
    assert ended.failure.startswith("CompilerError: ")
    assert "train.py, line 20" in ended.failure
    assert "smtc_lab/compiler" not in ended.errors
    assert "direct cause" not in ended.errors


def test_a_script_that_cannot_be_compiled_may_go_on_eagerly(run: Run) -> None:
    config = {"backend": "inductor", "fallback": "eager", "cache": False}
    ended = run(config, CXX="/no/such/compiler")

    assert ended.exit_code == 0, ended.errors
    assert "The script goes on eagerly" in ended.printed
    report = report_of(ended)
    assert report["backend"] == "eager"
    assert report["fell_back_because"]
    assert len(losses_of(ended)) == 6


def test_auto_leaves_a_compiler_that_fails_and_loses_no_step(run: Run) -> None:
    body = SCRIPT.replace("randn(24, 4)", "randn(48, 4)")
    ended = run({"backend": "auto", "cache": False}, body, CXX="/no/such/compiler")

    assert ended.exit_code == 0, ended.errors
    assert "auto: inductor cannot run this job: " in ended.printed
    report = report_of(ended)
    assert (report["backend"], report["fell_back_because"]) == ("eager", None)
    problems = {probe["backend"]: probe["problem"] for probe in report["probes"]}
    assert list(problems) == ["eager", "inductor", "xla"]
    assert "C++ compiler" in problems["inductor"]
    assert report["chosen_because"].startswith("eager is kept for a number of steps")
    assert len(losses_of(ended)) == 12
