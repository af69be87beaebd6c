"""A run that is killed at any moment, and goes on bit for bit.

``Session.checkpoint`` keeps the whole state of a training: models, optimizers and whatever else
the script names, random numbers, and the place in the data. Every so many steps it is copied
aside, and written by a thread while training goes on. The next attempt begins where the newest
checkpoint that all trainers have was taken.
"""
