"""Layers whose weights are divided among ranks, which compute parts of each and add them up.

Known blocks only (``plans``): the first layers of a block are divided by their outputs, the
last by its inputs, so that a block exchanges one sum forward and one backward. What is not
known stays whole on each rank. Weights stay plain tensors, of their part's shape: optimizers,
``DistributedDataParallel``, ``fully_shard`` and pipelines take them as they take any.
"""

from __future__ import annotations
