"""Commands of the recovery record."""
