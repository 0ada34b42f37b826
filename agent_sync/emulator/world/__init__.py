"""The one world behind every view: people, repositories, issues, pull requests, checks and boards."""
