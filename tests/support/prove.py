"""Whether the long sweeps run."""

import os

PROVE = bool(os.environ.get("AGENT_SYNC_PROVE"))
