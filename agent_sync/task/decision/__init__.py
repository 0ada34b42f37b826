"""The decision, pure: no clock, environment, file or client library is known here."""
