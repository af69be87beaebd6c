"""The steps of a run, out of the record files of its ranks: a million of them, or 512 ranks.

SQLite does the work, with no Python object for each row where few numbers are enough. Files of
up to 16 ranks are joined in one question; more are asked so many at a time, which holds few
files open, and put together by the table that the SQL is made of, too (decision 117).
"""

from __future__ import annotations
