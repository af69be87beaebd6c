"""Python environments that a job may name, beside the one that launches it.

An environment is a name for an interpreter. It was made here, from a requirements file with
hashes, by uv (``make``), or it is a virtual environment or conda prefix that existed before
(``named``). It is asked what is installed in it before anything is started (``probe``), and
what is installed is kept with each run (``packages``). smtc_lab itself is not among that: a
launcher shows its own package to the environment's interpreter (``shown_package``), so both
sides are one version, and an environment needs only what the package imports. Decisions 61 to
63.
"""
