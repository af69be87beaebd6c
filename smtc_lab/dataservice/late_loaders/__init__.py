"""How a trainer tells of a dataloader that its script made after the first iteration.

A data instance stays at the script's first iteration, and knows the loaders made before. Of one
that is made later it is told the construction: what was there already by its path (see
``landmarks``), plain values and tensors as they are, and datasets, collate functions and
transforms that are new by their class and their attributes. That is no pickle: no function is
called but those that a loader calls anyway, and no class is found that the data instance has
not imported. What cannot be told so is prepared by the trainer itself.
"""
