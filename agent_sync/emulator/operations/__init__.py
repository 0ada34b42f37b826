"""What can be done to the world, refusing what GitHub refuses, once for REST and GraphQL."""
