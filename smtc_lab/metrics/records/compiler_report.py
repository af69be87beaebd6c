"""What a compiler did in one training process: the schema of ``compiler/report-*.json``."""

from __future__ import annotations

from typing import Literal

from smtc_lab.metrics.result import Result
from smtc_lab.spec.compiler import TrainingCompilerConfig

SCHEMA_VERSION: Literal[1] = 1


class Place(Result):
    """A line of a script, or of a library when no line of the script led to it."""

    file: str
    """Name of the file, as a reader elsewhere knows it: no folder of this machine."""

    line: int
    """Line number, from 1."""

    code: str = ""
    """The line itself, stripped; empty: not known."""


class GraphBreak(Result):
    """A place where one graph ended, and the next one had to begin."""

    reason: str
    """Why, in one sentence."""

    place: Place | None
    """Where; None: not known."""

    count: int = 1
    """How often it was met while compiling."""


class Recompilation(Result):
    """A compilation of code that had been compiled before."""

    cause: str
    """The guard that failed, or the shapes that changed: ``x.size(1): 36 -> 41``."""

    step: int | None
    """Step in which it happened, from 0; None: not known."""

    seconds: float
    """How long it took."""

    place: Place | None = None
    """The function that was compiled again; None: not known."""


class HostSync(Result):
    """A line that makes the host wait for the device, such as ``loss.item()``."""

    operation: str
    """``item``, ``tolist``, ``bool``, ``cpu``, …"""

    place: Place | None
    """Where; None: not known."""

    per_step: float
    """Mean number for each observed step."""


class HostOperator(Result):
    """An operator that the compiler's device does not have, and the host ran instead."""

    operator: str
    """``aten::nonzero``, …"""

    per_step: float
    """Mean number for each observed step."""


class CompileTime(Result):
    """Where the time of compiling went, in seconds. Parts that are not told apart are None."""

    capture_s: float | None = None
    """Tracing the Python code into a graph."""

    lowering_s: float | None = None
    """Turning graphs into a program of the backend: decompositions, partition, fusion."""

    code_generation_s: float | None = None
    """Making machine code of it: C++, Triton or LLVM compilers."""

    total_s: float
    """All compilations of this process."""

    compilations: int
    """How many there were."""


class Probe(Result):
    """One backend as ``auto`` measured it on the real step."""

    backend: str
    """Its name."""

    compile_s: float | None
    """Seconds beyond a steady step that its first steps took; None: it failed."""

    step_time_s: float | None
    """Mean of its steady steps in seconds; None: it failed."""

    steps: int
    """Steady steps that were measured."""

    predicted_job_s: float | None
    """Predicted time of all steps that were left, compile time in; None: it failed, or the
    number of steps is not known."""

    problem: str | None = None
    """Why it could not be used; None: it could."""


class CompilerReport(Result):
    """Everything that one trainer process knows of its compiler."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    config: TrainingCompilerConfig
    """What was asked for."""

    backend: str
    """Backend that ran in the end: ``eager``, ``inductor`` or ``xla``."""

    device: str
    """Where it computed: ``cpu``, ``cuda``, ``xla:CPU``, ``xla:TPU``."""

    fused_optimizer: bool | None = None
    """Whether the optimizer really was fused; None: no optimizer has stepped."""

    keeps_memory: bool = False
    """Whether freed memory really is kept."""

    per_block: int | None = None
    """Layers that were compiled one by one; None: the model was compiled as a whole."""

    fell_back_because: str | None = None
    """Why it runs eagerly although a compiler was asked for; None: it does not."""

    chosen_because: str | None = None
    """What ``auto`` says about its choice; None: there was no choice."""

    probes: tuple[Probe, ...] = ()
    """What ``auto`` measured; empty: it did not."""

    probe_steps: int = 0
    """Steps from the begin of the job in which ``auto`` was still choosing; 0: it did not."""

    probe_s: float = 0.0
    """Seconds that probing took beyond the same steps under the chosen backend."""

    compile_time: CompileTime | None = None
    """Where compile time went; None: nothing was compiled."""

    graphs: int | None = None
    """Graphs that the step became; None: not known."""

    graph_breaks: tuple[GraphBreak, ...] = ()
    """Where graphs ended early."""

    recompilations: tuple[Recompilation, ...] = ()
    """Compilations beyond the first of each graph."""

    host_syncs: tuple[HostSync, ...] = ()
    """Lines that made the host wait, in the observed steps."""

    host_operators: tuple[HostOperator, ...] = ()
    """Operators that the host ran for the device, in the observed steps."""

    observed_steps: int = 0
    """Steps in which syncs and host operators were counted."""

    operators: int | None = None
    """Operators of the captured graphs, before fusion; None: not known."""

    kernels: int | None = None
    """Kernels after fusion, library calls included; None: not known."""

    fused_kernels: int | None = None
    """Those of them that the compiler generated itself; the rest call libraries. None: not
    known."""

    cache_hits: int | None = None
    """Graphs that came out of the persistent cache; None: there is none."""

    cache_misses: int | None = None
    """Graphs that did not; None: there is no persistent cache."""

    cache_note: str | None = None
    """What a reader must know about the cache; None: nothing."""

    peak_memory_bytes: int | None = None
    """Most memory that the process held: on the device where there is one, else resident."""

    debug_folder: str | None = None
    """Folder of intermediate files, relative to the instance's ``/opt/ml``; None: none."""

    notes: tuple[str, ...] = ()
    """Further sentences for people: tied weights restored, masks simplified, …"""
