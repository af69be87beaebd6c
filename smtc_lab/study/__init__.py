"""Many runs, one question: comparisons, and searches for a batch size.

A study has a folder (what was asked, where it stands, what came out) and a process that carries
it out; its runs have folders of their own. A kind of study is an entry in ``kinds`` and the
function that it names (DECISIONS 69).
"""
