"""Processes of tests that begin with torch imported, in place of importing it each.

The pytest process asks one server, which has imported what they do, for the Python processes
that it starts (``asking``, ``server``). The server forks one, which becomes what the command
asks for (``becoming``): its modules are set aside, and an import brings them back in no time
(``parking``). What that one starts in turn is forked from itself. Decision 132.
"""
