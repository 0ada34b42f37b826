"""The recovery record of a task: hook.json, HOOK.md, checkpoints and signed receipts."""
