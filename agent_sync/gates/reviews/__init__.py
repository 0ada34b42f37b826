"""Reviews: which programs review, what they are asked, and what they found."""
