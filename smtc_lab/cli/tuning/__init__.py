"""``smtc-lab tune``."""
