"""What a script logs of its training: by our own name, by loggers of others, or printed."""
