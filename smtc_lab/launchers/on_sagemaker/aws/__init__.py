"""What is asked of AWS, and how."""
