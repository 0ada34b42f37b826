"""How each field of the schema is read from the world, one module per part of GitHub."""
