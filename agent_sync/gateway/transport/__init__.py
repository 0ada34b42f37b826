"""One request to GitHub: whose repository, which server, which token, retries, and errors in our own words."""
