"""Private names of torch that compilers need, each with what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import CompilerError
from smtc_lab.machine.torch_names import (
    TESTED_XLA,
    lacks,
    needed_name,
    private_name,
    release,
    releases_tested,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_METRICS = "torch._dynamo.utils:"

WHAT_FOR: Mapping[str, str] = {
    "torch:Tensor._backward_hooks": "holds the hooks of a tensor",
    "torch:Tensor._post_accumulate_grad_hooks": "holds the hooks of a gradient",
    "torch:_scaled_dot_product_attention_math": "is the formula of attention",
    "torch._C:_swap_tensor_impl": "moves a tensor in place",
    "torch._dynamo.callback:callback_handler": "tells when code is compiled",
    "torch._dynamo.config:automatic_dynamic_shapes": "says when shapes may change",
    "torch._dynamo.config:debug_dir_root": "says where intermediate files go",
    "torch._dynamo.config:fail_on_recompile_limit_hit": (
        "refuses code that is compiled again and again"
    ),
    "torch._dynamo.config:recompile_limit": "says how often code is compiled again",
    "torch._dynamo.exc:FailOnRecompileLimitHit": (
        "tells that code was compiled again and again"
    ),
    "torch._dynamo.exc:TorchDynamoException": "tells that code could not be compiled",
    "torch._dynamo.trace_rules:check": "tells whose code is not compiled",
    "torch._dynamo.output_graph:GraphCompileReason": "describes the end of a graph",
    f"{_METRICS}CompilationMetrics": "describes a compilation",
    f"{_METRICS}clear_compilation_metrics": "forgets the compilations so far",
    f"{_METRICS}counters": "counts kernels and hits of the cache",
    f"{_METRICS}get_compilation_metrics": "describes the compilations so far",
    f"{_METRICS}graph_break_reasons": "tells where graphs end early",
    f"{_METRICS}set_compilation_metrics_limit": "keeps the compilations so far",
    "torch._functorch._aot_autograd.schemas:AOTConfig": "says when a backward is compiled",
    "torch._functorch.config:force_non_lazy_backward_lowering": (
        "compiles a backward with its forward"
    ),
    "torch._inductor.async_compile:AsyncCompile.pool": "starts the C++ compilers",
    "torch._inductor.config:cpp.threads": "says for how many threads code is made",
    "torch._inductor.config:fallback_random": "draws the random numbers of eager",
    "torch._inductor.config:force_disable_caches": "takes no code from caches",
    "torch._inductor.config:trace.enabled": "writes intermediate files",
    "torch._inductor.cpu_vec_isa:VecISA.build_arch_flags": "names a vector instruction set",
    "torch._inductor.cpu_vec_isa:VecISA.check_build": "tries whether vector code loads",
    "torch._inductor.exc:CppCompileError": "tells that the C++ compiler failed",
    "torch._inductor.exc:InvalidCxxCompiler": "tells that there is no C++ compiler",
    "torch._inductor.metrics:generated_kernel_count": "counts the kernels",
    "torch._inductor.metrics:ir_nodes_pre_fusion": "counts the operators",
    "torch._inductor.metrics:reset": "begins to count kernels anew",
    "torch._inductor.utils:clear_caches": "forgets what came out of the cache",
    "torch._logging._internal:log_registry": "names the logs of compilers",
    "torch._logging._internal:set_logs": "switches the logs of compilers on",
    "torch.autograd.grad_mode:_unsafe_preserve_version_counter": (
        "changes what a backward holds on to"
    ),
    "torch.nn:Module._call_impl": "is what Module.compile compiles",
    "torch.nn:Module._compiled_call_impl": "is where Module.compile puts compiled code",
    "torch.nn.modules.batchnorm:_BatchNorm": "is the base of all batch normalizations",
    "torch.utils._pytree:tree_map": "walks through a batch",
    "torch_xla:_XLAC._xla_get_tensor_id": "tells tensors on XLA apart",
}
"""By name, what is lost without it; to follow "which"."""


def needed(name: str) -> Any:  # noqa: ANN401  whatever it stands for
    """Return what a name of ``WHAT_FOR`` stands for.

    Raises:
        CompilerError: This torch does not have it.
    """
    instead = "compile with backend='eager'"
    return needed_name(name, WHAT_FOR, error=CompilerError, instead=instead)


def optional(name: str) -> Any:  # noqa: ANN401  as above
    """Return what a name of ``WHAT_FOR`` stands for; None: this torch does not have it."""
    assert name in WHAT_FOR  # noqa: S101  so that its absence is tested
    try:
        return private_name(name)
    except LookupError:
        return None


def home_of(name: str) -> Any:  # noqa: ANN401  a module
    """Return the module that a setting of ``WHAT_FOR`` lies in.

    Raises:
        CompilerError: This torch does not have the setting.
    """
    needed(name)
    return private_name(f"{name.partition(':')[0]}:")


def why_unknown(name: str, *, fields: Iterable[str] = ()) -> str | None:
    """Return why nothing is known of what a name stands for; None: this torch has it.

    Args:
        name: One of ``WHAT_FOR``.
        fields: What its instances must have, where it is a dataclass.
    """
    try:
        kind = private_name(name)
    except LookupError:
        return f"{lacks(name, WHAT_FOR[name])} {releases_tested(name)}."
    for field in fields:
        if field not in kind.__dataclass_fields__:  # the class has those only with a default
            return f"{lacks(f'{name}.{field}', WHAT_FOR[name])} {releases_tested(name)}."
    return None


def how_to_install_xla() -> str:
    """Return how torch_xla comes beside this torch, to follow that it is not installed."""
    install = "pip install 'smtc-lab[xla]'"
    _, last = TESTED_XLA
    version = private_name("torch:__version__")
    if release(version) <= release(last):
        return install
    return f"its last release goes with torch {last}, not {version}: {install}"
