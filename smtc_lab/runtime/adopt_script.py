"""Hands an unmodified script to the job's compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.runtime.script_compiler import ScriptCompiler

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.compiler.compilation import Compilation


def adopt_script(compilation: Compilation, *, say: Callable[[str, str], None]) -> None:
    """Compile what the script of this process trains; right after ``import torch``.

    Until it makes a session's step: then that one is compiled, and nothing else.

    Args:
        compilation: The compiler of this process.
        say: Tells people; called with a kind of event and a sentence.
    """
    compilation.prepare()
    if compilation.config.backend == "xla" and compilation.not_xla is None:
        from smtc_lab.runtime.script_xla import ScriptOnXla  # noqa: PLC0415  the others do without

        compilation.adopt(ScriptOnXla(compilation))
    else:
        compilation.adopt(ScriptCompiler(compilation, say=say))
