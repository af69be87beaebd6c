"""Many runs, one question: comparisons, and searches for a batch size.

A study has a folder (what was asked, where it stands, what came out) and a process that carries
it out: one of its own, so that a notebook's kernel stays free, or that of the caller, who waits
for it. Its runs have folders of their own. A kind of
study is an entry in ``kinds`` and the function that it names, which makes every launch through
one watch: it is told what has started and what that found out, and stops what runs (decisions
24 and 69). Comparisons launch in interleaved rounds, so that a drift of the machine hits all
alike (6); parity is checked in launches of its own (19); batch sizes are tried in processes
that may run out of memory (20).
"""
