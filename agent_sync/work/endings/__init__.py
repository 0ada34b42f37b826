"""How work on a hook ends: with its claim, by a result that others can get, or because somebody cancels it."""
