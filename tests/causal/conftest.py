"""Property tests here judge numbers, not the speed of the machine that they run on."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
