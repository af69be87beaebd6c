"""A script that starts quickly trains, compiles and fails as one that Python alone runs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

QUICKLY = """
from smtc_lab.runtime.script.quick_start import start_quickly
start_quickly()
"""

BEGIN = """
import gc, json, os, sys
import torch
from torch import nn
said = {}
torch.manual_seed(0)
def trained(model, optimizer):
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 3)).square().mean().backward()
        optimizer.step()
    return [value.tolist() for value in model.parameters()]
"""

EAGER = """
for kind in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad, torch.optim.RMSprop):
    model = nn.Linear(3, 2)
    said[kind.__name__] = trained(model, kind(model.parameters(), lr=0.1))
import torch.distributed as dist
store = dist.HashStore()
dist.init_process_group("gloo", store=store, rank=0, world_size=1)
model = nn.parallel.DistributedDataParallel(nn.Linear(3, 2))
said["ddp"] = trained(model, torch.optim.SGD(model.parameters(), lr=0.1))
said["reducer"] = model._use_python_reducer
gradient = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([gradient], lr=0.1, differentiable=False)
gradient.grad = torch.ones(1)
optimizer.step()
said["grad_mode"] = torch.is_grad_enabled()
said["loaded"] = "torch._dynamo" in sys.modules
dist.destroy_process_group()
"""

COMPILED = """
model = nn.Linear(3, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
trained(model, optimizer)
graphs = []
def backend(graph, inputs):
    graphs.append(len(graph.graph.nodes))
    return graph.forward
said["step"] = trained(torch.compile(model, backend=backend), optimizer)
stepped = torch.compile(optimizer.step, backend=backend)
stepped()
said["graphs"] = graphs
said["weights"] = [value.tolist() for value in model.parameters()]
from torch._dynamo.utils import counters
said["breaks"] = sorted(counters["graph_break"].values())
"""

CONFIGURED = """
from torch import _dynamo
import torch._dynamo
torch._dynamo.config.optimize_ddp = "python_reducer"
said["mode"] = torch._dynamo.utils.get_optimize_ddp_mode()
said["same"] = _dynamo.config.optimize_ddp
"""


def said(script: str) -> dict[str, Any]:
    process = subprocess.run(
        [sys.executable, "-c", script + "\nprint(json.dumps(said))"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    words: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return words


def test_an_eager_script_trains_the_same_without_the_compiler() -> None:
    plain, quick = (said(start + BEGIN + EAGER) for start in ("", QUICKLY))

    assert plain.pop("loaded")
    assert not quick.pop("loaded")
    assert quick == plain


@pytest.mark.parametrize("script", [COMPILED, CONFIGURED], ids=["compiled", "configured"])
def test_the_compiler_finds_all_as_torch_made_it(script: str) -> None:
    plain, quick = (said(start + BEGIN + script) for start in ("", QUICKLY))

    assert quick == plain


def test_garbage_of_the_script_is_found_as_ever() -> None:
    quick = said(
        QUICKLY
        + BEGIN
        + """
import weakref
class Knot:
    pass
knot = Knot()
knot.itself = knot
gone = weakref.ref(knot)
del knot
gc.collect()
said["found"] = gone() is None
said["on"] = gc.isenabled()
said["frozen"] = gc.get_freeze_count()
"""
    )

    assert quick.pop("frozen") > 100_000
    assert quick == {"found": True, "on": True}


def test_a_torch_that_cannot_be_imported_leaves_all_as_it_was() -> None:
    quick = said(
        QUICKLY
        + """
import gc, json, sys, tempfile
from pathlib import Path
folder = tempfile.mkdtemp()
Path(folder, "torch.py").write_text("raise ImportError('broken')")
sys.path.insert(0, folder)
said = {}
try:
    import torch
except ImportError as error:
    said["error"] = str(error)
said["on"] = gc.isenabled()
said["frozen"] = gc.get_freeze_count()
"""
    )

    assert quick == {"error": "broken", "on": True, "frozen": 0}
