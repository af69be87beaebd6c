"""Numbers out of records: step statistics, cost, comparison. Pure functions.

Records become columns, and every number is computed of them by one function, for one rank or
many, of a run that grows or has ended (decision 68). What counts of a launch is decided once:
warm-up is cut alike in all launches that are compared (84), and the longest rank's step is the
job's step. Means come with 95 % intervals over the launches (82), all as one type that says its
level, its evidence (73), and the looks and candidates that it allows for (83). Results are
frozen and are the schema of their JSON. Cautions say in a sentence what a reader must know
before trusting a number, and a verdict claims no more than its interval. Nothing here reads a
file or a clock.
"""

from __future__ import annotations
