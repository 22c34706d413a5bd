"""Settings that hold for every test."""

from hypothesis import settings

# The first example may compile, and machines are noisy: time is never a reason to fail.
settings.register_profile("surefoot", deadline=None, derandomize=True)
settings.load_profile("surefoot")
