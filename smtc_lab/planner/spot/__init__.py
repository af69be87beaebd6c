"""What a job on spot instances will cost and when it will end, before it is paid.

Thousands of futures of a market are drawn (``lifetimes``, ``trace``): windows in which
instances can be had, one after the other. Jobs are played through them as arrays (``played``),
by a few policies that know nothing of what comes (``policies``), and the forecast tells what
they cost and when they end, with the ends between which nine of ten futures lie (decision 133).
"""

from __future__ import annotations
