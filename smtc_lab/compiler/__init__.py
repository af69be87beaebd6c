"""One training step in, one compiled training step out.

A backend takes a Python step and gives one that computes the same faster, and reports what it
did: compile time, graph breaks, recompilations, kernels, memory. ``step`` says what every
backend takes and returns, ``backends`` which ones there are. Inductor compiles the model and
leaves the step as Python (decisions 15 and 16); XLA swaps the contents of the script's own
tensors and has its own environment where torch_xla lags behind torch (17, 39, 61); ``auto``
measures on the job's real steps, in forked copies of the process (18, 58, 65). A session and an
unmodified script go the same way. That the same model comes out is checked in launches of their
own (19). Private names of torch are looked up one by one (66).
"""

from __future__ import annotations
