"""What people and machines other than the tool under test do to the world."""
