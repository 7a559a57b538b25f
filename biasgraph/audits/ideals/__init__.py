"""What a distribution is compared with: declared shares, counts, answers or photographs."""
