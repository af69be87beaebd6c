"""The options of launches, declared once for the command line and for cells.

What a shell and ``%%smtc`` take under one name is one click option of this folder, and what the
options describe is made into jobs here.
"""
