"""A model that inductor cannot compile ends with one message, or goes on eagerly, unharmed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psutil
import pytest
import torch
from torch import nn

from smtc_lab.compiler.inductor.backend import CompiledModel
from smtc_lab.compiler.inductor.cache import cache_note, use_cache
from smtc_lab.errors import CompilerError
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

CONFIG = TrainingCompilerConfig(backend="inductor")


class Noisy(nn.Module):
    """Changes a buffer and draws random numbers in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return (torch.dropout(x, 0.5, self.training) * self.weight).sum()


@pytest.fixture
def cxx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the file that inductor takes for its C++ compiler; there is none yet."""
    from torch._inductor import config

    file = tmp_path / "g++"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    settings = {"cpp.cxx": (None, str(file)), "cpp_cache_precompile_headers": False}
    with config.patch(settings):
        yield file


@pytest.fixture
def aot_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Capture and lower graphs, but make no machine code: that costs seconds for each."""
    compile_ = torch.compile
    monkeypatch.setattr(torch, "compile", lambda call, **_: compile_(call, backend="aot_eager"))


def stand_in(file: Path, does: str) -> None:
    """Make a compiler that answers questions like g++, and does something else with code."""
    file.write_text(
        f'#!/bin/sh\ncase "$*" in *.cpp*) {does};; *) exec /usr/bin/g++ "$@";; esac\n',
        encoding="utf-8",
    )
    file.chmod(0o700)


@pytest.mark.usefixtures("cxx")
def test_a_missing_compiler_is_named_with_what_to_do() -> None:
    model = Noisy()
    CompiledModel(model, CONFIG)

    with pytest.raises(CompilerError, match=r"needs a C\+\+ compiler.*Install g\+\+.*fallback"):
        model(torch.ones(3))


@pytest.mark.usefixtures("cxx")
def test_a_call_that_failed_leaves_nothing_behind() -> None:
    model = Noisy()
    compiled = CompiledModel(model, CONFIG)
    random = torch.get_rng_state()

    with pytest.raises(CompilerError):
        model(torch.ones(3))

    assert torch.equal(torch.get_rng_state(), random)
    assert float(model.calls) == 0
    assert model.weight.grad is None
    compiled.leave()
    assert model._compiled_call_impl is None


def test_who_goes_on_eagerly_loses_no_call(cxx: Path) -> None:
    stand_in(cxx, "exit 139")
    model, plain = Noisy(), Noisy()
    problems: list[str] = []
    CompiledModel(model, CONFIG, on_failure=lambda it: problems.append(str(it)))

    torch.manual_seed(0)
    outputs = [model(torch.ones(3)) for _ in range(2)]
    outputs[0].backward()

    torch.manual_seed(0)
    assert torch.equal(torch.stack(outputs), torch.stack([plain(torch.ones(3)) for _ in "12"]))
    assert float(model.calls) == 2
    assert len(problems) == 1
    assert "the C++ compiler failed with exit code 139" in problems[0]


def test_torch_in_a_folder_with_a_space_is_named(
    cxx: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(cxx, "exit 1")
    model = Noisy()
    CompiledModel(model, CONFIG)
    monkeypatch.setattr(torch, "__file__", "/home/ann lee/torch/__init__.py")

    with pytest.raises(CompilerError, match=r"whose path has no space.*'/home/ann lee/torch'"):
        model(torch.ones(3))


def test_a_compiler_that_hangs_is_ended_at_the_limit(cxx: Path) -> None:
    stand_in(cxx, "exec sleep 600")
    model = Noisy()
    CompiledModel(model, CONFIG.model_copy(update={"timeout_s": 5.0}))
    begin = time.monotonic()

    with pytest.raises(CompilerError, match=r"longer than timeout_s=5\. Raise timeout_s"):
        model(torch.ones(3))

    assert time.monotonic() - begin < 100
    assert [it for it in psutil.Process().children() if it.name() == "sleep"] == []


def test_a_full_cache_is_told_and_done_without(
    cxx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(
        cxx,
        'case "$*" in */home/*) echo "No space left on device"; exit 1;; esac; exec g++ "$@"',
    )
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")
    use_cache(enabled=True)
    model = Noisy()
    compiled = CompiledModel(model, CONFIG)

    model(torch.ones(3)).backward()

    assert not compiled.failed
    assert "compiles without it" in (cache_note() or "")
    assert float(model.calls) == 1


def test_a_mistake_of_the_model_is_not_the_compilers() -> None:
    class Wrong(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ torch.ones(5, 5)

    model = Wrong()
    CompiledModel(model, CONFIG)

    with pytest.raises(RuntimeError, match=r"size mismatch|cannot be multiplied") as caught:
        model(torch.ones(3, 3))

    assert not isinstance(caught.value, CompilerError)


def graphs_of(model: nn.Module, data: torch.Tensor) -> int:
    """Return how many graphs a model becomes, without making machine code of them."""
    from torch._dynamo.utils import counters

    counters.clear()
    model(data)
    return counters["stats"]["unique_graphs"]


@pytest.mark.usefixtures("aot_only")
def test_a_model_made_of_torchs_own_modules_is_compiled_too() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    CompiledModel(model, CONFIG)

    assert graphs_of(model, torch.ones(2, 4)) == 1


# torch looks at .grad of each layer's input.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
@pytest.mark.usefixtures("aot_only")
def test_layers_that_are_alike_share_what_was_compiled() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 5, enable_nested_tensor=False)
    compiled = CompiledModel(model, CONFIG)

    assert compiled.num_blocks == 5
    # The input of the first layer needs no gradient, that of the others does.
    assert graphs_of(model, torch.ones(2, 3, 8)) == 2


@pytest.mark.usefixtures("code_cache")
def test_inputs_that_change_all_the_time_are_refused() -> None:
    from torch._dynamo import config

    class Reading(nn.Module):
        def forward(self, x: torch.Tensor, kind: str) -> torch.Tensor:
            return x if kind == "none" else -x

    model = Reading()
    with config.patch(recompile_limit=2):
        CompiledModel(model, CONFIG)
        model(torch.ones(2), "a")
        model(torch.ones(2), "b")

        with pytest.raises(CompilerError, match=r"compiled again and again.*Pad its inputs"):
            model(torch.ones(2), "c")


@pytest.mark.usefixtures("aot_only")
def test_inputs_that_change_all_the_time_are_refused_in_any_thread() -> None:
    from torch._dynamo import config

    class Repeating(nn.Module):
        def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
            return torch.cat([x] * times)

    def train() -> None:
        with config.patch(recompile_limit=2, automatic_dynamic_shapes=False):
            for times in range(2, 6):
                model(torch.ones(2), times)

    model = Repeating()
    compiled = CompiledModel(model, CONFIG)

    with ThreadPoolExecutor() as other_thread:
        error = other_thread.submit(train).exception()

    compiled.leave()
    assert isinstance(error, CompilerError)
    assert "compiled again and again" in str(error)


def test_a_model_that_the_script_compiled_is_refused() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].compile()

    with pytest.raises(CompilerError, match=r"compiles its Linear by itself.*Remove"):
        CompiledModel(model, CONFIG)
