"""What an instance uses, and the limit that it is under."""
