"""A model that is cut into stages, each on its own device, and trained by a schedule.

One pass without memory (``recording``) tells what each module of the model costs and which
outputs of others it needs; that makes the model a sequence of ``pieces``, and ``partition``
cuts it exactly. A ``stage`` runs the script's own forward, with the modules of other stages
replaced by what was received from them, so no code is split. torch's ``schedules`` say who
computes what when, and ``pipeline`` is what a script holds in its hands: its optimizer steps
the stage's own parameters, and a checkpoint is that of one process.
"""

from __future__ import annotations
