"""Settings for all tests."""

from hypothesis import settings

# A slow machine is no fault of the code, and the same examples on every run keep a failure repeatable.
settings.register_profile("rope_ref", deadline=None, derandomize=True, database=None)
settings.load_profile("rope_ref")

# Needs torch and transformers: `make families` runs it.
collect_ignore = ["families"]
