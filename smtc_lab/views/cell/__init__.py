"""Launching from a cell: ``%%smtc``, ``%smtc``, their options and their completion."""
