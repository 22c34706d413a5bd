"""Bridges to tools that people have already, one file each. What a bridge leads to is imported when it is used."""
