"""The GitHub Action: reconciles a repository in a runner, without a checkout, and shows the fleet there."""
