"""What happened meanwhile: commits, pushes, files touched, last words."""
