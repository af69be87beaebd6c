"""What to run: job, cluster, compiler settings, channels, emulation.

A ``TrainingJob`` is the only input of a launcher. Names and meanings are SageMaker's where it
has them. Specs are frozen, go to JSON and back, and refuse what is wrong when they are made:
all problems at once, each with the value and what to do. Their JSON Schema is what forms and
the front end's types are made from. Everything beside script and cluster is optional, and
leaving it out costs nothing. An environment is a name, looked up when the job is planned
(decision 63); each compiler setting that can make a step faster is a field of its own (15).
"""

from __future__ import annotations
