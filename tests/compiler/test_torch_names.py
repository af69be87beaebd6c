from __future__ import annotations

import ast
import importlib
import pkgutil
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import smtc_lab
from smtc_lab.compiler import fast_functions
from smtc_lab.compiler.inductor import cache as inductor_cache
from smtc_lab.compiler.inductor import compile_settings, debug_folder
from smtc_lab.compiler.inductor.backend import CompiledModel
from smtc_lab.compiler.inductor.compile_failure import compiler_failures
from smtc_lab.compiler.inductor.compile_limit import CompileLimit
from smtc_lab.compiler.inductor.facts import InductorFacts
from smtc_lab.compiler.observing.parity_recorder import make_comparable
from smtc_lab.compiler.precision import use_bfloat16
from smtc_lab.compiler.preparation import prepare_process
from smtc_lab.compiler.torch_names import WHAT_FOR, how_to_install_xla, needed, optional
from smtc_lab.compiler.xla.batch_norm import UnbiasedVariances
from smtc_lab.compiler.xla.move import Moved
from smtc_lab.dataservice import torch_names as data_names
from smtc_lab.errors import CompilerError
from smtc_lab.machine import torch_names
from smtc_lab.parallel import torch_names as parallel_names
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ONE_OF_THEM_IS_ENOUGH = {
    "torch._functorch.config:force_non_lazy_backward_lowering",  # since 2.11
    "torch._functorch._aot_autograd.schemas:AOTConfig",
}
CONFIG = TrainingCompilerConfig(backend="inductor", keep_memory=False)
HERE = [
    name
    for name in WHAT_FOR
    if name not in ONE_OF_THEM_IS_ENOUGH
    and (find_spec("torch_xla") or not name.startswith("torch_xla"))
]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that takes a name out of this torch until the test ends."""
    resolve = pkgutil.resolve_name
    missing: set[str] = set()

    def resolved(name: str) -> Any:
        if name in missing:
            raise AttributeError(name)
        return resolve(name)

    monkeypatch.setattr(pkgutil, "resolve_name", resolved)
    return missing.add


@pytest.fixture(autouse=True)
def clean_slate() -> Iterator[None]:
    yield
    with suppress(AttributeError):
        torch._dynamo.reset()


@pytest.mark.parametrize("name", HERE)
def test_this_torch_has_every_name_that_we_use(name: str) -> None:
    torch_names.private_name(name)


def test_this_torch_compiles_a_backward_with_its_forward_in_one_way_or_the_other() -> None:
    assert [name for name in ONE_OF_THEM_IS_ENOUGH if optional(name) is not None]


@pytest.mark.parametrize("name", HERE)
def test_a_name_that_torch_lacks_is_told_in_one_sentence(
    name: str, without: Callable[[str], None]
) -> None:
    without(name)

    with pytest.raises(CompilerError) as caught:
        needed(name)

    shown = name.replace(":", ".")
    package, tested = ("torch_xla", "2.9") if "xla" in name else ("torch", "2.9 to 2.15")
    version = importlib.import_module(package).__version__
    assert str(caught.value) == (
        f"{package} {version} has no {shown}, which {WHAT_FOR[name]}. "
        f"smtc_lab {smtc_lab.__version__} was tested with {package} {tested}; use one of "
        "these, or compile with backend='eager'."
    )


def test_a_name_that_was_really_taken_away_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._dynamo import callback

    monkeypatch.delattr(callback, "callback_handler")

    with pytest.raises(CompilerError, match=r"no torch\._dynamo\.callback\.callback_handler"):
        CompileLimit(60)


def test_a_module_that_is_gone_is_missed_and_a_package_that_torch_needs_is_not() -> None:
    with pytest.raises(LookupError):
        torch_names.private_name("torch._there_is_no_such_module:name")
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        torch_names.private_name("no_such_package:name")


def compile_a_model() -> None:
    CompiledModel(nn.Linear(2, 2), CONFIG)


def move_a_model() -> None:
    model = nn.Linear(2, 2)
    Moved(model, torch.optim.SGD(model.parameters()), device=torch.device("meta"))


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("torch._dynamo.callback:callback_handler", compile_a_model),
        ("torch._dynamo.config:fail_on_recompile_limit_hit", compile_a_model),
        ("torch._dynamo.trace_rules:check", compile_a_model),
        ("torch.nn:Module._call_impl", compile_a_model),
        ("torch.nn:Module._compiled_call_impl", compile_a_model),
        ("torch._dynamo.exc:FailOnRecompileLimitHit", compiler_failures),
        ("torch._dynamo.exc:TorchDynamoException", compiler_failures),
        ("torch._inductor.exc:CppCompileError", compiler_failures),
        ("torch._inductor.exc:InvalidCxxCompiler", compiler_failures),
        ("torch.nn:Module._call_impl", lambda: use_bfloat16(nn.Linear(2, 2))),
        ("torch.utils._pytree:tree_map", lambda: use_bfloat16(nn.Linear(2, 2))),
        ("torch._C:_swap_tensor_impl", move_a_model),
        ("torch:Tensor._backward_hooks", move_a_model),
        ("torch:Tensor._post_accumulate_grad_hooks", move_a_model),
        ("torch.nn.modules.batchnorm:_BatchNorm", lambda: UnbiasedVariances(nn.Linear(2, 2))),
    ],
)
def test_what_cannot_do_without_a_name_says_so(
    name: str, use: Callable[[], object], without: Callable[[str], None]
) -> None:
    without(name)

    with pytest.raises(CompilerError, match=rf"has no {name.replace(':', '.')}, which"):
        use()


def test_a_parity_launch_needs_the_random_numbers_of_eager(
    without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dropout", "scaled_dot_product_attention"):
        monkeypatch.setattr(nn.functional, name, getattr(nn.functional, name))
    monkeypatch.setattr(torch, "dropout", torch.dropout)
    without("torch._inductor.config:fallback_random")

    with pytest.raises(CompilerError, match=r"which draws the random numbers of eager"):
        make_comparable(backend="inductor")


def test_the_backward_needs_one_of_two_ways(without: Callable[[str], None]) -> None:
    compile_settings._change_every_graph.cache_clear()
    for name in ONE_OF_THEM_IS_ENOUGH:
        without(name)

    with pytest.raises(CompilerError, match=r"schemas\.AOTConfig, which says when a backward"):
        compile_a_model()


def test_who_may_go_on_eagerly_does_without_a_name(without: Callable[[str], None]) -> None:
    from smtc_lab.compiler.compilation import Compilation

    without("torch._dynamo.trace_rules:check")
    said: list[str] = []
    compilation = Compilation(
        CONFIG.model_copy(update={"fallback": "eager", "fused_optimizer": False}),
        folder=None,
        max_steps=None,
        rank=0,
        world_size=1,
        say=lambda _, words: said.append(words),
    )
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters())
    step = compilation.compile(lambda m, _, batch: m(batch).sum(), model, optimizer)

    step(torch.ones(1, 2))

    report = compilation.report()
    compilation.close()
    assert report is not None
    assert report.backend == "eager"
    assert "has no torch._dynamo.trace_rules.check" in str(report.fell_back_because)
    assert any("has no torch._dynamo.trace_rules.check" in words for words in said)


def facts_of_a_graph() -> dict[str, Any]:
    torch._dynamo.reset()
    facts = InductorFacts(current_step=lambda: 3)
    compiled = torch.compile(lambda x: x * 2, backend="aot_eager", dynamic=False)
    compiled(torch.ones(2))
    compiled(torch.ones(3))
    fields = facts.fields()
    facts.close()
    return fields


@dataclass
class Fact:
    """What is not known without a name, and how a report says that."""

    name: str
    lost: str
    said: str


@pytest.mark.parametrize(
    "fact",
    [
        Fact("torch._dynamo.utils:get_compilation_metrics", "compile_time", "Compile time and"),
        Fact("torch._dynamo.utils:CompilationMetrics", "recompilations", "Compile time and"),
        Fact("torch._dynamo.config:recompile_limit", "graphs", "Compile time and"),
        Fact("torch._dynamo.utils:graph_break_reasons", "graph_breaks", "Graph breaks are"),
        Fact("torch._dynamo.output_graph:GraphCompileReason", "graph_breaks", "Graph breaks"),
        Fact("torch._dynamo.utils:counters", "cache_hits", "Kernels and hits of the cache"),
        Fact("torch._inductor.metrics:reset", "operators", "Operators and kernels are"),
    ],
    ids=lambda fact: fact.name,
)
def test_a_fact_that_torch_does_not_tell_is_unknown_and_noted(
    fact: Fact, without: Callable[[str], None]
) -> None:
    without(fact.name)

    fields = facts_of_a_graph()

    assert fact.lost not in fields
    (note,) = fields["notes"]
    assert note.startswith(fact.said)
    assert f"has no {fact.name.replace(':', '.')}, which" in note


def test_a_field_that_compilations_lack_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._dynamo.utils import CompilationMetrics

    fields = dict(CompilationMetrics.__dataclass_fields__)
    del fields["recompile_reason"]
    monkeypatch.setattr(CompilationMetrics, "__dataclass_fields__", fields)

    (note,) = InductorFacts(current_step=lambda: 0).fields()["notes"]

    assert "CompilationMetrics.recompile_reason, which describes a compilation" in note


def test_recompilations_without_callbacks_have_no_step(without: Callable[[str], None]) -> None:
    without("torch._dynamo.callback:callback_handler")

    fields = facts_of_a_graph()

    (found,) = fields["recompilations"]
    assert found.step is None
    (note,) = fields["notes"]
    assert note.startswith("The steps of recompilations are not known: torch ")


@pytest.mark.parametrize(
    "name",
    [
        "torch._inductor.config:trace.enabled",
        "torch._inductor.config:force_disable_caches",
        "torch._dynamo.config:debug_dir_root",
        "torch._logging._internal:set_logs",
        "torch._logging._internal:log_registry",
    ],
)
def test_debug_files_that_torch_does_not_write_end_nothing(
    name: str, without: Callable[[str], None], tmp_path: Path
) -> None:
    from smtc_lab.compiler.compilation import Compilation

    without(name)
    said: list[str] = []

    compilation = Compilation(
        CONFIG.model_copy(update={"debug": True}),
        folder=tmp_path,
        max_steps=None,
        rank=0,
        world_size=1,
        say=lambda _, words: said.append(words),
    )
    compilation._debug_files(debug_folder.DebugFolder(tmp_path, rank=0).prepare)

    (words,) = said
    assert words.startswith("The compiler's files cannot be kept: torch ")
    assert name.replace(":", ".") in words


def test_attention_is_torchs_own_where_its_formula_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fast_functions, "_has_formula", False)
    monkeypatch.setattr(fast_functions, "is_compiled", lambda _: True)
    monkeypatch.delattr(torch, "_scaled_dot_product_attention_math")
    value = torch.ones(1, 1, 3, 2)

    weighted = fast_functions.scaled_dot_product_attention(value, value, value, dropout_p=0.5)

    assert weighted.shape == value.shape


def test_a_cache_is_left_only_where_torch_forgets_what_came_out_of_it(
    without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))
    folder = inductor_cache.cache_root() / "code"
    folder.mkdir(parents=True)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
    without("torch._inductor.utils:clear_caches")

    assert not inductor_cache.leave_cache(OSError("full"))
    assert folder.exists()


@pytest.mark.parametrize("method", ["check_build", "build_arch_flags"])
def test_vector_code_is_tried_by_torch_where_nobody_can_remember_it(
    method: str, without: Callable[[str], None]
) -> None:
    from torch._inductor.cpu_vec_isa import VecISA

    before = VecISA.check_build
    inductor_cache._remember_what_loads.cache_clear()
    without(f"torch._inductor.cpu_vec_isa:VecISA.{method}")

    inductor_cache._remember_what_loads()

    inductor_cache._remember_what_loads.cache_clear()
    assert VecISA.check_build is before


@pytest.mark.parametrize(
    ("version", "notes"),
    [("2.8.1", 1), ("2.9.0", 0), ("2.15.3+cu132", 0), ("2.16.0a0+git1", 1)],
)
def test_a_torch_that_was_not_tested_is_noted(
    version: str, notes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    config = TrainingCompilerConfig(backend="eager", keep_memory=False)

    preparation = prepare_process(config, folder=None, world_size=1, max_steps=None)

    said = f"smtc_lab {smtc_lab.__version__} was tested with torch 2.9 to 2.15, and this is "
    assert preparation.notes == (f"{said}{version}.",) * notes


def reached(node: ast.AST) -> list[str]:
    """Return the names by which an expression is reached, without what calls are given."""
    match node:
        case ast.Name():
            return [node.id]
        case ast.Attribute():
            return [*reached(node.value), node.attr]
        case ast.Call():
            return reached(node.func)
        case ast.Subscript():
            return reached(node.value)
    return [""]


def test_what_calls_are_given_hides_no_private_name() -> None:
    (outer,) = ast.parse("torch.randperm(self._size).tolist()[0]._inner").body

    assert isinstance(outer, ast.Expr)
    assert reached(outer.value) == ["torch", "randperm", "tolist", "_inner"]


def private_uses(path: Path) -> Iterator[str]:
    """Yield the private names of torch that a file imports, or reaches from ``torch``."""
    tree = ast.parse(path.read_text("utf-8"))
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [".".join(reached(node))]
        for name in names:
            parts = name.split(".")
            if parts[0] in {"torch", "torch_xla"} and any(
                part.startswith("_") and not part.startswith("__") for part in parts
            ):
                yield name


def test_private_names_of_torch_are_looked_up_by_name() -> None:
    package = Path(smtc_lab.__file__).parent
    found = {
        f"{path.relative_to(package)} {name}"
        for path in sorted(package.rglob("*.py"))
        for name in private_uses(path)
    }

    # Asked in each step, and only where they are.
    assert found == {
        "compiler/fast_functions.py torch._scaled_dot_product_attention_math",
        "dataservice/iterating/iterators.py torch.autograd.profiler._is_profiler_enabled",
    }


def test_every_name_of_a_list_is_used() -> None:
    package = Path(smtc_lab.__file__).parent
    code = "\n".join(
        path.read_text("utf-8")
        for path in package.rglob("*.py")
        if path.name != "torch_names.py"
    )

    for name in (
        *WHAT_FOR,
        *data_names.WHAT_FOR,
        *data_names.ITERATOR_FIELDS,
        *parallel_names.WHAT_FOR,
    ):
        assert name.rpartition(":")[2].rpartition(".")[2] in code, name


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("2.9.1", "pip install 'smtc-lab[xla]'"),
        (
            "2.15.0",
            "its last release goes with torch 2.9, not 2.15.0: pip install 'smtc-lab[xla]'",
        ),
    ],
)
def test_xla_beside_a_newer_torch_is_told_to_need_an_older_one(
    version: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", version)

    assert how_to_install_xla() == said
