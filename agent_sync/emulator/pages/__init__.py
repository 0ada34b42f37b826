"""The local GitHub as web pages: what people see when they open a link."""
