"""What an instance and each of its trainers are told: written and read side by side.

A launcher plans instances (``plan``) and describes each of them (``description``); that travels
as ``agent.json``. The agent on the instance writes the tree and the variables that SageMaker
shows to an entry point (``prepare``, with ``opt_ml``, ``resource_config``, ``hyperparameters``
and ``sm_environment``), and the variables by which our own runtime knows what a process does
(``context``, their names in ``variables``). How the instance ended comes back in ``exit.json``
(``instance_exit``). A trainer is a process: an instance has as many as it is told of. A data
instance has none: one process serves trainers there. Decisions 1, 8 and 62 shaped it.

Nothing here imports torch, and what an agent imports needs no package beside this one.
"""
