"""When pairs are looked at: fixed before the first image is made."""

LOOKS = (24, 48, 96, 192, 384)
"""Images of each prompt."""


def looks_up_to(most: int) -> tuple[int, ...]:
    """Those of `LOOKS` with at most so many images."""
    return tuple(images for images in LOOKS if images <= most)
