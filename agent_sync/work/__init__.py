"""Work hooks: work that hangs on a worker's hook in the shared repository until it is done, whatever crashes."""
