"""What a calibration measures of gradients: when they are ready, and how fast they add up."""
