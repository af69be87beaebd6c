"""Where to run: launchers, run handles, and how a run is stopped and cleaned up.

``launcher`` has what each launcher promises: ``plan`` is pure and needs no credentials,
``start`` alone begins something, and alone may spend money, which it refuses to do unconfirmed
(decision 44). A run has a folder and a supervisor, a process of its own that starts the
instances, mirrors what they say, ends them together by one set of rules, and has the last word
(1, 41). Whoever loses the lifeline to its parent ends what is below it, so nothing keeps
running. The folders differ in what an instance is: a process tree with a CPU quota here, a node
of a Ray cluster (53), a container of SageMaker, which ends jobs by itself and outlives us (45,
49, 50), or a file for somebody else's scheduler (42). ``engines`` is the table of what each
brings; no code above asks for its name.
"""
