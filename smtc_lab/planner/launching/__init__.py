"""What a launch asks of the planner before it is planned."""
