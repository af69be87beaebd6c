"""What trainers exchange: timed, and where a network is declared, as slow as that one."""
