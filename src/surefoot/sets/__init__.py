"""Confidence sets: how far an estimate can be from the truth, for all rounds at once."""
