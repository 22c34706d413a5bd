"""The arithmetic: no input or output, no clock, no hidden randomness, and the truth is out of reach."""
