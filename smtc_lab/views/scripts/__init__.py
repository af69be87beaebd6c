"""Scripts that a form offers: those used last, examples, a notebook's cells, and a folder's.

``offered`` finds them, ``info`` says what a browser is told of them. Only the folder that is
looked into is state, and a browser keeps it: what was used last is read from the runs
themselves. A cell becomes a file when it is chosen, as under ``%%smtc``.
"""
