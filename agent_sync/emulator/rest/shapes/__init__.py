"""The world's values in the shapes GitHub's REST interface gives them."""
