"""Values with checked fields, read without pydantic where they are ordinary; see `model.py`."""
