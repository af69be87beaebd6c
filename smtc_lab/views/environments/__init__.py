"""Python environments in forms: which ones there are, and making the one of XLA.

What a form offers (``choices``) is read at once by name alone when a view opens, and asked of
each interpreter in a thread afterwards, because that starts a process for each. XLA's
environment is made in a thread too (``xla_maker``), once for all views of a process. What a
browser is told of both is ``told``.
"""
