"""Says in one message why torch.compile could not compile a model."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

from smtc_lab.compiler.inductor.compile_limit import CompileTookTooLong
from smtc_lab.compiler.places import script_place
from smtc_lab.compiler.torch_names import needed
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    import traceback
    from collections.abc import Iterator

    from smtc_lab.metrics.records.compiler_report import Place

_ANY_FAILURE = "torch._dynamo.exc:TorchDynamoException"
_AGAIN_AND_AGAIN = "torch._dynamo.exc:FailOnRecompileLimitHit"
_CXX_FAILED = "torch._inductor.exc:CppCompileError"
_NO_CXX = "torch._inductor.exc:InvalidCxxCompiler"

_CAUSE_CHARACTERS = 300
_FILE_ERRORS = (OSError, ImportError, EOFError, pickle.UnpicklingError)
_GO_ON = "set fallback='eager' to go on without the compiler"
_CHANGING_INPUTS = "its inputs change so much that the same code was compiled again and again"
_FIXED_INPUTS = "Pad its inputs to one shape (max_length, drop_last=True), set dynamic=True"


def compiler_failures() -> tuple[type[BaseException], ...]:
    """Return what torch raises when it cannot compile, and nothing that a model raises.

    Raises:
        CompilerError: This torch does not tell the two apart.
    """
    failures = map(needed, (_ANY_FAILURE, _AGAIN_AND_AGAIN, _CXX_FAILED, _NO_CXX))
    return (*failures, CompileTookTooLong)


def compiler_error(error: BaseException, *, limit_s: float | None) -> CompilerError:
    """Return the error of a failed compilation for people: cause, line, what to do.

    Args:
        error: What torch raised.
        limit_s: The time limit, when it was reached; None: it was not.
    """
    cause, remedy = _cause(error, limit_s)
    place = _place(error)
    where = "" if place is None else f" at {place.file}, line {place.line} ({place.code!r})"
    return CompilerError(
        f"The inductor backend cannot compile the model{where}: {cause}. {remedy}."
    )


def is_of_cache(error: BaseException, folder: str) -> bool:
    """Whether files, rather than the model, are what a compilation failed at.

    Args:
        error: What torch raised.
        folder: The folder of the cache, absolute.
    """
    if "No space left on device" in str(error):  # from g++, which is another process
        return True
    return any(
        isinstance(one, _FILE_ERRORS) or _raised_in(one).startswith(f"{folder}/")
        for one in _chain(error)
    )


def _raised_in(error: BaseException) -> str:
    """Return the file whose code raised an error, or could not be read as code."""
    if isinstance(error, SyntaxError):
        return error.filename or ""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else trace.tb_frame.f_code.co_filename


def _cause(error: BaseException, limit_s: float | None) -> tuple[str, str]:
    if limit_s is not None:
        return (
            f"compiling took longer than timeout_s={limit_s:g}",
            f"Raise timeout_s, or {_GO_ON}",
        )
    chain = list(_chain(error))
    if any(isinstance(one, needed(_AGAIN_AND_AGAIN)) for one in chain):
        return _CHANGING_INPUTS, f"{_FIXED_INPUTS}, or {_GO_ON}"
    if any(isinstance(one, needed(_NO_CXX)) for one in chain):
        cause = "inductor needs a C++ compiler on the CPU, and found none that works"
        return cause, f"Install g++, or {_GO_ON}"
    for one in chain:
        if isinstance(one, subprocess.CalledProcessError):
            cause = f"the C++ compiler failed with exit code {one.returncode}"
            return f"{cause} ({_last_line(one.output)})", f"{_repair()}, or {_GO_ON}"
    innermost = chain[-1]
    cause = f"{type(innermost).__name__}: {_first_line(innermost)}"
    return cause, f"Change that part of the model, or {_GO_ON}"


def _repair() -> str:
    """Return what helps where g++ refuses its command; torch does not quote its own path."""
    torch_file = str(sys.modules["torch"].__file__)
    if " " in torch_file:
        return (
            "Install torch in a folder whose path has no space, which its command does not "
            f"quote (now {torch_file.rpartition('/')[0]!r})"
        )
    return "Repair it"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, outermost first."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        inner = getattr(current, "inner_exception", None)
        current = inner or current.__cause__


def _first_line(error: BaseException) -> str:
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), "no reason given")[:_CAUSE_CHARACTERS].rstrip(
        ". "
    )


def _last_line(output: bytes | str | None) -> str:
    text = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:_CAUSE_CHARACTERS] if lines else "it said nothing"


def _place(error: BaseException) -> Place | None:
    """Return the line of the model that torch was at; None: torch does not say."""
    for one in _chain(error):
        stack: traceback.StackSummary | None = getattr(one, "real_stack", None)
        if stack:
            return script_place([(frame.filename, frame.lineno) for frame in stack])
    return None
