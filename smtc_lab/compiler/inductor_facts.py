"""What torch.compile did in this process: times, graphs, breaks, recompilations, kernels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.guard_words import guard_in_words
from smtc_lab.compiler.places import place, script_place
from smtc_lab.metrics.compiler_report import CompileTime, GraphBreak, Recompilation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch._dynamo.callback import CallbackArgs
    from torch._dynamo.utils import CompilationMetrics

_MOST_COMPILATIONS = 4096
"""Compilations whose metrics are kept; torch keeps 64 by itself."""

_BRANCH = "generic_jump"
_LIMIT_EXCEEDED = "RecompileLimitExceeded"
_REASON_CHARACTERS = 240


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
        import torch._dynamo.utils as dynamo  # noqa: PLC0415  takes seconds; only for inductor
        from torch._dynamo import config  # noqa: PLC0415
        from torch._dynamo.callback import callback_handler  # noqa: PLC0415
        from torch._inductor import metrics  # noqa: PLC0415

        self._current_step = current_step
        self._steps: dict[str, int] = {}
        self._config = config
        self._dynamo, self._metrics, self._callbacks = dynamo, metrics, callback_handler
        dynamo.set_compilation_metrics_limit(_MOST_COMPILATIONS)
        dynamo.clear_compilation_metrics()
        dynamo.counters.clear()
        dynamo.graph_break_reasons.clear()
        metrics.reset()
        callback_handler.register_start_callback(self._compilation_begins)

    def close(self) -> None:
        """Count no longer in which steps compilations happen. Twice is once."""
        if self._compilation_begins in self._callbacks.start_callbacks:
            self._callbacks.remove_start_callback(self._compilation_begins)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a ``CompilerReport`` that are known of torch.compile.

        Empty before anything was compiled.
        """
        attempts = self._dynamo.get_compilation_metrics()
        compilations = [one for one in attempts if one.fail_type is None]
        if not attempts:
            return {}
        graphs = {_code(one) for one in compilations if one.graph_op_count}
        inductor = self._dynamo.counters["inductor"]
        external = inductor["extern_calls"]
        generated = self._metrics.generated_kernel_count
        hits = inductor["fxgraph_cache_hit"]
        misses = inductor["fxgraph_cache_miss"]
        has_cache = bool(hits or misses)
        operators = (
            self._metrics.ir_nodes_pre_fusion or None
        )  # 0: another backend than inductor
        given_up = _given_up(attempts, limit=self._config.recompile_limit)
        return {
            "compile_time": _compile_time(compilations),
            "graphs": len(graphs),
            "graph_breaks": _graph_breaks(self._dynamo.graph_break_reasons),
            "recompilations": _recompilations(compilations, self._steps),
            "operators": operators,
            "kernels": None if operators is None else generated + external,
            "fused_kernels": None if operators is None else generated,
            "cache_hits": hits if has_cache else None,
            "cache_misses": misses if has_cache else None,
            **({"notes": given_up} if given_up else {}),
        }

    def _compilation_begins(self, args: CallbackArgs) -> None:
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
        if one.fail_type != _LIMIT_EXCEEDED:
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
