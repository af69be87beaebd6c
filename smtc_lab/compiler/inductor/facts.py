"""What torch.compile did in this process: times, graphs, breaks, recompilations, kernels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.inductor.guard_words import guard_in_words
from smtc_lab.compiler.places import place, script_place
from smtc_lab.compiler.torch_names import optional, why_unknown
from smtc_lab.machine.torch_names import private_name
from smtc_lab.metrics.records.compiler_report import CompileTime, GraphBreak, Recompilation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch._dynamo.utils import CompilationMetrics

_MOST_COMPILATIONS = 4096
"""Compilations whose metrics are kept; torch keeps 64 by itself."""

_BRANCH = "generic_jump"
_LIMIT_REACHED = ("recompile_limit reached", "Dynamo recompile limit exceeded")
"""How torch begins to say that it gives code up: 2.9, and later ones."""

_REASON_CHARACTERS = 240

_CALLBACKS = "torch._dynamo.callback:callback_handler"
_METRICS = (
    "torch._dynamo.utils:CompilationMetrics",
    "torch._dynamo.utils:get_compilation_metrics",
    "torch._dynamo.utils:clear_compilation_metrics",
    "torch._dynamo.utils:set_compilation_metrics_limit",
    "torch._dynamo.config:recompile_limit",
)
_FIELDS = (
    "aot_autograd_cumulative_compile_time_us",
    "backward_cumulative_compile_time_us",
    "co_filename",
    "co_firstlineno",
    "co_name",
    "compile_id",
    "duration_us",
    "dynamo_cumulative_compile_time_us",
    "fail_reason",
    "fail_type",
    "graph_op_count",
    "inductor_code_gen_cumulative_compile_time_us",
    "recompile_reason",
)
_BREAKS = (
    "torch._dynamo.output_graph:GraphCompileReason",
    "torch._dynamo.utils:graph_break_reasons",
)
_COUNTERS = "torch._dynamo.utils:counters"
_KERNELS = (
    "torch._inductor.metrics:generated_kernel_count",
    "torch._inductor.metrics:ir_nodes_pre_fusion",
    "torch._inductor.metrics:reset",
)


class InductorFacts:
    """Counts what torch.compile does from now on, in a session's step or in any script.

    Everything is read from torch's own counters when the report is written. A step pays
    nothing for it, a compilation one function call.
    """

    def __init__(self, *, current_step: Callable[[], int]) -> None:
        """Begin to count.

        Args:
            current_step: Returns the number of the step that runs, from 0; it is called when
                a compilation begins.
        """
        self._current_step = current_step
        self._steps: dict[str, int] = {}
        self._unknown: list[str] = []
        self._callbacks: Any = None
        self._metrics: Any = None
        self._breaks: Any = None
        self._counters: Any = None
        self._kernels: Any = None
        if self._knows("The steps of recompilations are", _CALLBACKS):
            self._callbacks = optional(_CALLBACKS)
            self._callbacks.register_start_callback(self._compilation_begins)
        if self._knows("Compile time and recompilations are", *_METRICS, fields=_FIELDS):
            self._metrics = private_name("torch._dynamo.utils:")
            self._metrics.set_compilation_metrics_limit(_MOST_COMPILATIONS)
            self._metrics.clear_compilation_metrics()
        if self._knows("Graph breaks are", *_BREAKS, fields=("reason", "user_stack")):
            self._breaks = optional(_BREAKS[1])
            self._breaks.clear()
        if self._knows("Kernels and hits of the cache are", _COUNTERS):
            self._counters = optional(_COUNTERS)
            self._counters.clear()
            if self._knows("Operators and kernels are", *_KERNELS):
                self._kernels = private_name("torch._inductor.metrics:")
                self._kernels.reset()

    def close(self) -> None:
        """Count no longer in which steps compilations happen. Twice is once."""
        callbacks = self._callbacks
        if callbacks is not None and self._compilation_begins in callbacks.start_callbacks:
            callbacks.remove_start_callback(self._compilation_begins)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a ``CompilerReport`` that are known of torch.compile.

        Empty before anything was compiled.
        """
        attempts = None if self._metrics is None else self._metrics.get_compilation_metrics()
        if attempts is not None and not attempts:
            return {}
        fields: dict[str, Any] = self._compilations(attempts) if attempts else {}
        if self._breaks is not None:
            fields["graph_breaks"] = _graph_breaks(self._breaks)
        if self._counters is not None:
            hits = self._counters["inductor"]["fxgraph_cache_hit"]
            misses = self._counters["inductor"]["fxgraph_cache_miss"]
            if hits or misses:
                fields |= {"cache_hits": hits, "cache_misses": misses}
        if self._kernels is not None:
            fields |= self._kernel_fields()
        notes = (*fields.get("notes", ()), *self._unknown)
        return {**fields, "notes": notes} if notes else fields

    def _compilations(self, attempts: Sequence[CompilationMetrics]) -> dict[str, Any]:
        compilations = [one for one in attempts if one.fail_type is None]
        limit = optional("torch._dynamo.config:recompile_limit")
        return {
            "compile_time": _compile_time(compilations),
            "graphs": len({_code(one) for one in compilations if one.graph_op_count}),
            "recompilations": _recompilations(compilations, self._steps),
            "notes": _given_up(attempts, limit=limit),
        }

    def _kernel_fields(self) -> dict[str, Any]:
        operators = self._kernels.ir_nodes_pre_fusion
        if not operators:  # another backend than inductor
            return {}
        generated = self._kernels.generated_kernel_count
        external = self._counters["inductor"]["extern_calls"]
        return {
            "operators": operators,
            "kernels": generated + external,
            "fused_kernels": generated,
        }

    def _knows(self, fact: str, *names: str, **fields: Iterable[str]) -> bool:
        """Return whether torch has all that tells a fact; else a note says what is missing.

        Args:
            fact: What would not be known, with its verb.
            names: Of ``WHAT_FOR``.
            fields: What instances of the first name must have.
        """
        wanted = [why_unknown(names[0], **fields), *map(why_unknown, names[1:])]
        missing = next((why for why in wanted if why is not None), None)
        if missing is not None:
            self._unknown.append(f"{fact} not known: {missing}")
        return missing is None

    def _compilation_begins(self, args: Any) -> None:  # noqa: ANN401  torch's own, under a private name
        self._steps.setdefault(args.compile_id, self._current_step())


def _compile_time(compilations: Sequence[CompilationMetrics]) -> CompileTime:
    """Split the time of all compilations; a backward pass that is compiled later is its own."""
    traced = sum(one.dynamo_cumulative_compile_time_us or 0 for one in compilations)
    lowered = sum(one.aot_autograd_cumulative_compile_time_us or 0 for one in compilations)
    backward = sum(one.backward_cumulative_compile_time_us or 0 for one in compilations)
    generated = sum(
        one.inductor_code_gen_cumulative_compile_time_us or 0 for one in compilations
    )
    return CompileTime(
        capture_s=max(0, traced - lowered) / 1e6,
        lowering_s=max(0, lowered + backward - generated) / 1e6,
        code_generation_s=generated / 1e6,
        total_s=(traced + backward) / 1e6,
        compilations=sum(1 for one in compilations if one.graph_op_count),
    )


def _graph_breaks(reasons: Sequence[Any]) -> tuple[GraphBreak, ...]:
    """Return each line that ended a graph once, in the order in which they were met."""
    counts = Counter(
        (
            _reason_in_words(one.reason),
            tuple((frame.filename, frame.lineno) for frame in one.user_stack[-8:]),
        )
        for one in reasons
    )
    breaks: dict[tuple[str, str, int], GraphBreak] = {}
    for (reason, stack), count in counts.items():
        where = script_place(stack)
        key = (reason, where.file, where.line) if where else (reason, "", 0)
        before = breaks[key].count if key in breaks else 0
        breaks[key] = GraphBreak(reason=reason, place=where, count=before + count)
    return tuple(breaks.values())


def _reason_in_words(reason: str) -> str:
    """Return torch's explanation without its hints and addresses."""
    if reason.startswith(_BRANCH):
        return "A branch depends on the value of a tensor."
    lines = [line.strip() for line in reason.strip().splitlines()] or ["Not known."]
    explained = [line for line in lines if line.startswith("Explanation: ")]
    words = explained[0].removeprefix("Explanation: ") if explained else lines[0]
    return words[:_REASON_CHARACTERS]


def _recompilations(
    compilations: Sequence[CompilationMetrics], steps: dict[str, int]
) -> tuple[Recompilation, ...]:
    """Return compilations of code that had been compiled before.

    What follows from one (its backward pass, the rest of a function behind a graph break)
    counts to its seconds.
    """
    found: list[dict[str, Any]] = []
    by_id: dict[str, dict[str, Any]] = {}
    seen: set[tuple[str, int, str]] = set()
    for one in compilations:
        number = one.compile_id or ""
        seconds = (one.duration_us or 0) / 1e6
        if one.recompile_reason:
            by_id[number] = {
                "cause": guard_in_words(one.recompile_reason),
                "step": steps.get(number),
                "seconds": seconds,
                "place": place(one.co_filename or "<", one.co_firstlineno),
            }
            found.append(by_id[number])
        elif number in by_id:
            by_id[number]["seconds"] += seconds
        elif _code(one) in seen and found:
            by_id[number] = found[-1]
            found[-1]["seconds"] += seconds
        if one.co_name:
            seen.add(_code(one))
    return tuple(Recompilation(**one) for one in found)


def _given_up(attempts: Sequence[CompilationMetrics], *, limit: int) -> tuple[str, ...]:
    """Return a sentence for each function that torch will not compile any more."""
    given_up: dict[str, None] = {}  # a set that keeps the order
    names = {_frame(one): one for one in attempts if one.co_name}
    for one in attempts:
        if not (one.fail_reason or "").startswith(_LIMIT_REACHED):
            continue
        known = names.get(_frame(one))
        where = place(known.co_filename or "<", known.co_firstlineno) if known else None
        name = (
            f"{known.co_name} ({where.file}, line {where.line})" if known and where else "Code"
        )
        given_up[
            f"{name} was compiled {limit} times and runs eagerly for whatever else comes; "
            f"the last cause was {guard_in_words(one.recompile_reason or '')}."
        ] = None
    return tuple(given_up)


def _frame(one: CompilationMetrics) -> str:
    return (one.compile_id or "").partition("/")[0]


def _code(one: CompilationMetrics) -> tuple[str, int, str]:
    return (one.co_filename or "", one.co_firstlineno or 0, one.co_name or "")
