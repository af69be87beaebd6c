"""What goes over a connection, and the connection."""
