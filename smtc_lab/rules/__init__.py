"""Rules: from the records of a run to findings, each with its place, its cost and its fix.

A rule is a fold: it is told the steps of a run in pieces, as they come, and tells its findings
whenever it is asked. So a run of any length is looked at while it grows, and at its end every
rule says what it says of the finished run as a whole. What is measured is not folded a second
time: how many steps are warm-up is decided on all of them, in ``metrics``, so rules take their
shares from the same ``MeasuredColumns`` as results do (decision 68).

While a run grows, a rule waits for enough measured steps, and what was told is told until it is
clearly not so any more. At the end neither counts.
"""

from __future__ import annotations
