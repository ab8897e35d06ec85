from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("stategram", deadline=None, print_blob=True)
settings.load_profile("stategram")
