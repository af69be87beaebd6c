"""What people see: tables, figures, the report, rich display in a notebook."""

from __future__ import annotations
