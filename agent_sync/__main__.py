"""The way in."""


def main() -> None:
    """Do nothing yet."""
