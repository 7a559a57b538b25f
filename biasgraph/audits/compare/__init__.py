"""What runs must have in common to be compared, and what a comparison may not show."""
