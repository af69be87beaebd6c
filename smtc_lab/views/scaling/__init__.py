"""What views know of scaling studies."""
