"""What a plan and the designer say in the same words."""
