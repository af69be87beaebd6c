"""What is measured on this machine before anything is predicted."""
