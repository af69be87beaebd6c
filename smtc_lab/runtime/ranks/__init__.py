"""What trainers of one job do together: meet, reduce, train as one, and end when one hangs."""
