"""What all benchmarks do alike: fresh processes, rounds, tables and figures.

A measurement runs in a process of its own (``fresh``), every candidate once in each round
(``rounds``). Ratios are made within a round, because machines drift; a figure is the median
over the rounds with its interval (``figure``), written in one form for all notebooks.
"""

from __future__ import annotations
