"""Where records lie, and how they are written so that a crash leaves a whole one."""
