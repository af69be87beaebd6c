"""The programs that XLA made of a step, as it dumped them: operators before, kernels after."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypedDict

_DUMP = re.compile(r"--xla_dump_to=(\S+)")
_BEFORE = ".before_optimizations.txt"
_AFTER = "_after_optimizations.txt"
_KEPT = (_BEFORE, _AFTER, "-memory-usage-report.txt")

_COMPUTATION = re.compile(r"^(ENTRY )?%(\S+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%\S+ = (?:\([^=]*\)|\S+) ([a-z][\w-]*)\(")
_CALLED = re.compile(r"to_apply=%([^\s,]+)")
_FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})
"""Instructions that compute nothing."""


class ProgramFacts(TypedDict, total=False):
    """Fields of a ``CompilerReport``."""

    operators: int
    kernels: int
    fused_kernels: int


def program_facts() -> ProgramFacts:
    """Return what the largest dumped program holds, and tidy the dump.

    Empty where nothing was dumped. Files of single kernels, thousands, are removed: they say
    nothing that the program does not.
    """
    asked = _DUMP.search(os.environ.get("XLA_FLAGS", ""))
    folder = Path(asked[1]) if asked else None
    if folder is None or not folder.is_dir():
        return {}
    for file in folder.iterdir():
        if not file.name.endswith(_KEPT):
            file.unlink(missing_ok=True)
    programs = list(folder.glob(f"*{_BEFORE}"))
    if not programs:
        return {}
    before = max(programs, key=lambda file: file.stat().st_size)
    facts: ProgramFacts = {"operators": len(_instructions(before))}
    for after in folder.glob(f"{before.name.removesuffix(_BEFORE)}.*{_AFTER}"):
        instructions = _instructions(after)
        facts["kernels"] = len(instructions)
        facts["fused_kernels"] = instructions.count("fusion")
    return facts


def _instructions(program: Path) -> list[str]:
    """Return what a program runs, by the names of HLO, those of called functions in place."""
    functions: dict[str, list[tuple[str, str | None]]] = {}
    entry, current = "", ""
    for line in program.read_text(encoding="utf-8", errors="replace").splitlines():
        if head := _COMPUTATION.match(line):
            current = head[2]
            functions[current] = []
            entry = current if head[1] else entry
        elif (found := _INSTRUCTION.match(line)) and found[1] not in _FREE:
            called = _CALLED.search(line) if found[1] == "call" else None
            functions[current].append((found[1], called[1] if called else None))
    return list(_run(entry, functions))


def _run(name: str, functions: dict[str, list[tuple[str, str | None]]]) -> list[str]:
    return [
        inner
        for instruction, called in functions.get(name, [])
        for inner in (_run(called, functions) if called else [instruction])
    ]
