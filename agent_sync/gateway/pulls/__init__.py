"""Pull requests on GitHub: polled, written, and what is said of them."""
