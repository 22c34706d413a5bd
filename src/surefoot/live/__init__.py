"""An experiment as it happens: pulls that are open, the order of results, and what is promised at the end."""
