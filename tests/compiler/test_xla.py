"""The xla backend, as the cases in ``xla_cases.py`` saw it in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smtc_lab.errors import CompilerError
from tests.twins import SLACK

HERE = Path(__file__).parent
# Compiles in a third of the time; the programs are slower, and mean the same.
QUICK = {**os.environ, "XLA_FLAGS": "--xla_backend_optimization_level=0"}
QUICK.pop("PJRT_DEVICE", None)

pytestmark = [
    pytest.mark.timeout(400),
    # Not imported here: it changes the settings of torch for the whole process.
    pytest.mark.xla,
]


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=QUICK, capture_output=True, text=True, timeout=360, check=False
    )


@pytest.fixture(scope="session")
def cases() -> dict[str, Any]:
    ran = run_python(str(HERE / "xla_cases.py"))
    assert ran.returncode == 0, ran.stderr[-4000:]
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    return {line["name"]: line for line in lines} | {"stderr": ran.stderr}


@pytest.fixture(scope="session")
def seen(cases: dict[str, Any]) -> Any:
    def of(name: str) -> Any:
        line = cases[f"seen_{name}"]
        assert "failure" not in line, line["failure"]
        return line["seen"]

    return of


def test_the_contract_of_a_compiled_step_holds(cases: dict[str, Any]) -> None:
    checks = {name: line for name, line in cases.items() if name.startswith("check_")}

    assert len(checks) > 5
    assert [line["failure"] for line in checks.values() if "failure" in line] == []


def test_nothing_of_torch_xla_is_said_to_the_user(cases: dict[str, Any]) -> None:
    assert "PJRT_DEVICE" not in cases["stderr"]
    assert "Warning" not in cases["stderr"]


def test_state_is_created_before_the_first_step_so_one_graph_is_compiled(seen: Any) -> None:
    optimizers = seen("optimizers")

    late = {name: it for name, it in optimizers.items() if it["compilations"] != 1}
    assert list(late) == ["SGD dampened"]
    assert late["SGD dampened"]["compilations"] == 2
    assert "creates its state in its first step" in late["SGD dampened"]["notes"][0]


def test_a_model_that_has_stepped_before_is_compiled_once(seen: Any) -> None:
    assert seen("resumed") == {"compilations": 1, "counters": [6, 6]}


def test_every_optimizer_learns_what_it_learns_eagerly(seen: Any) -> None:
    for name, it in seen("optimizers").items():
        assert it["distance"] <= SLACK, name  # of losses and of a running variance


def test_a_fused_optimizer_is_fused_again_after_leaving(seen: Any) -> None:
    assert seen("optimizers")["AdamW fused"]["fused"] is True


def test_bf16_trains_near_float32_but_not_in_it(seen: Any) -> None:
    it = seen("bf16")

    assert it["losses"] == pytest.approx(it["expected"], rel=0.05)
    assert it["losses"] != pytest.approx(it["expected"], rel=1e-6)


def test_a_value_read_in_the_step_is_told_by_its_line(seen: Any) -> None:
    it = seen("reads")

    assert it["graphs"] == 2
    assert [one["place"]["code"] for one in it["breaks"]] == ["if loss.item() > 1e9:"]
    assert "item" in it["breaks"][0]["reason"]


def test_an_operator_that_the_host_runs_is_counted_per_step(seen: Any) -> None:
    assert seen("reads")["host_operators"] == [{"operator": "aten::nonzero", "per_step": 1.0}]


def test_a_batch_of_another_shape_is_the_cause_of_a_recompilation(seen: Any) -> None:
    last = seen("shapes")[-1]

    assert last["step"] == 2
    assert "batch['tokens'].size(0): 5 -> 6" in last["cause"]
    assert last["seconds"] > 0


def test_every_tensor_stays_the_object_that_it_was(seen: Any) -> None:
    it = seen("identity")

    assert it["same"]
    assert it["in_optimizer"]
    assert it["on_device"] == ["xla"]
    assert it["left_on"] == ["cpu"]


def test_hooks_of_a_parameter_run_until_their_handle_removes_them(seen: Any) -> None:
    assert seen("identity")["hook_calls"] == 1


def test_a_saved_state_needs_no_torch_xla_and_holds_a_tied_weight_once(seen: Any) -> None:
    it = seen("identity")

    assert it["saved_tie"]
    assert not it["saved_mentions_xla"]


def test_a_first_step_that_fails_leaves_everything_as_it_was(seen: Any) -> None:
    it = seen("failure")

    assert it["message"] == "RuntimeError: the script's own"
    assert it["weights_same"]
    assert it["random_state_same"]
    assert set(it["steps_counted"]) == {0.0}


def test_gradients_use_the_dropout_masks_of_the_forward_pass(seen: Any) -> None:
    *steps, compilations = seen("dropout")["first"]

    assert all(fits for fits, _, _ in steps)
    assert not any(same_mask for _, _, same_mask in steps)
    assert steps[0][1] != steps[1][1]
    assert compilations == 1


def test_dropout_repeats_with_the_seed(seen: Any) -> None:
    it = seen("dropout")

    assert it["first"][:2] == it["again"][:2]


def test_a_model_called_between_steps_answers_on_the_host(seen: Any) -> None:
    it = seen("evaluation")

    assert it["device"] == "cpu"
    assert 0 < it["loss"] < 100


def test_data_workers_are_forked_while_xla_runs(seen: Any) -> None:
    assert seen("fork")["steps"] == 4


def test_a_forked_process_that_would_train_is_told_so_and_does_not_hang(seen: Any) -> None:
    assert "CompilerError: A step was called in process" in seen("fork")["message"]


def test_a_hugging_face_model_with_a_mask_is_one_graph_and_stays_tied(seen: Any) -> None:
    it = seen("hugging_face")

    assert it["distance"] <= SLACK
    assert (it["graphs"], it["compilations"], it["tied"]) == (1, 1, True)
    assert any("mask" in note for note in it["notes"])


def test_linear_layers_equal_those_of_the_host(seen: Any) -> None:
    for name, differences in seen("linear").items():
        assert len(differences) > 2
        assert max(differences) < 1e-5, name


def test_functions_that_somebody_else_replaced_stay_replaced(seen: Any) -> None:
    assert seen("replaced_functions") == 128.0


def test_dropout_drops_as_often_as_asked_and_each_value_alone(seen: Any) -> None:
    it = seen("dropout_numbers")

    # Of 131,072 values the standard error is 0.0013; of correlations at most 0.004.
    assert it["dropped"] == pytest.approx([0.3, 0.3], abs=0.006)
    assert it["kept_as"] == pytest.approx(1 / 0.7)
    assert it["of_a_row"] == pytest.approx(1, abs=0.5)
    assert it["of_a_column"] == pytest.approx(1, abs=0.4)
    assert max(map(abs, it["correlations"].values())) < 0.02
    assert (it["none"], it["evaluated"]) == (0.0, True)


def test_attention_equals_that_of_torch_with_the_same_weights_dropped(seen: Any) -> None:
    it = seen("attention")

    assert it.pop("draws_in_step") == 0
    assert set(it) == {"plain", "mask", "bias", "causal, scaled", "grouped"}
    for name, one in it.items():
        # Of 120 to 280 weights the standard error is at most 0.045.
        assert one["kept"] == pytest.approx(0.6, abs=0.15), name
        assert len(one["differences"]) == 4, name
        assert max(one["differences"]) < 1e-5, name


def test_module_to_keeps_parameters_and_their_ties(seen: Any) -> None:
    it = seen("module_to")

    assert it["same"]
    assert it["device"] == "xla"


def test_the_logging_of_the_script_is_left_alone(seen: Any) -> None:
    assert seen("module_to")["log_handlers"] == 0
    assert seen("module_to")["inductor_learns_shapes"]


def test_an_import_after_a_backward_is_explained() -> None:
    ran = run_python(
        "-c",
        "import torch; torch.ones(1, requires_grad=True).sum().backward();"
        "from smtc_lab.compiler.xla.setup import prepare_xla; prepare_xla()",
    )

    last = ran.stderr.splitlines()[-1]
    assert "XLA was made ready after the first backward()" in last
    assert 'backend="inductor"' in last


def test_a_device_that_is_not_there_is_named() -> None:
    ran = run_python(
        "-c",
        "import os; os.environ['PJRT_DEVICE'] = 'GPU';"
        "from smtc_lab.compiler.xla.setup import prepare_xla; prepare_xla()",
    )

    last = ran.stderr.splitlines()[-1]
    assert "PJRT_DEVICE='GPU'" in last
    assert "Set PJRT_DEVICE to CPU or TPU" in last


def test_dumped_programs_tell_operators_and_kernels(tmp_path: Path) -> None:
    ran = run_python("-c", DUMP, str(tmp_path / "xla"))

    assert ran.returncode == 0, ran.stderr[-3000:]
    facts = json.loads(ran.stdout)
    assert facts["operators"] > facts["kernels"] > facts["fused_kernels"] > 0
    kept = [file.name for file in (tmp_path / "xla").iterdir()]
    assert any(name.endswith("before_optimizations.txt") for name in kept)
    assert not any(name.endswith((".ll", ".mlir")) for name in kept)


DUMP = """
import json, sys, torch
from pathlib import Path
from smtc_lab.compiler.xla.setup import prepare_xla
from smtc_lab.compiler.xla.programs import program_facts

prepare_xla(dump_folder=Path(sys.argv[1]))
import torch_xla
values = torch.ones(64, 64).to("xla")
total = (values @ values).sin().mul(2).add(1).sum()
torch_xla.sync()
float(total)
print(json.dumps(program_facts()))
"""


def test_out_of_memory_says_that_the_process_must_end() -> None:
    ran = run_python("-c", OUT_OF_MEMORY)

    assert ran.returncode == 3, ran.stderr[-3000:]
    assert "XLA ran out of memory" in ran.stdout
    assert "it must end" in ran.stdout


OUT_OF_MEMORY = """
import os, resource, torch
from smtc_lab.compiler.xla.backend import XlaStep
from smtc_lab.compiler.xla.setup import prepare_xla
from smtc_lab.errors import CompilerError
from tests.twins import SLACK
from smtc_lab.spec.compiler import TrainingCompilerConfig

def train_step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = model(model(batch)).cumsum(0).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss

prepare_xla()
model = torch.nn.Linear(64, 64)
config = TrainingCompilerConfig(backend="xla")
step = XlaStep(train_step, model, torch.optim.SGD(model.parameters(), 0.1), config=config)
step(torch.ones(8, 64))
step.wait()
batch = torch.ones(2**18, 64)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, resource.RLIM_INFINITY))
try:
    step(batch)
    step.wait()
except CompilerError as error:
    print(error, flush=True)
    os._exit(3)
"""


def test_a_missing_torch_xla_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from smtc_lab.compiler.xla.setup import prepare_xla

    monkeypatch.setitem(sys.modules, "torch_xla", None)

    with pytest.raises(CompilerError, match=r"'torch_xla'.*pip install 'smtc-lab\[xla\]'"):
        prepare_xla()


def test_several_trainers_are_refused_and_told_what_to_choose() -> None:
    from smtc_lab.compiler.xla.setup import refuse_several_trainers

    with pytest.raises(CompilerError, match=r"2 trainers.*backend=\"inductor\""):
        refuse_several_trainers(2)
