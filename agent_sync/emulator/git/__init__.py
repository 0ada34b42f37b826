"""Git over smart HTTP, with the refusals that GitHub and proxies before it make."""
