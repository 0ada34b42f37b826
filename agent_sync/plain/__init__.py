"""JSON and values with checked fields, read without pydantic where they are ordinary; see `model.py`."""
