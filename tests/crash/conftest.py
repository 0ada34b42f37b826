"""Disks that can be full or read-only."""

import contextlib
import os
import subprocess
import sys

import pytest
from support.disks import run


@pytest.fixture
def mounts():
    """Mount file systems, and take them away again in the end."""
    if os.geteuid() or not sys.platform.startswith("linux"):
        pytest.skip("only root can mount a disk: power cuts and full disks are not tried")
    with contextlib.ExitStack() as stack:

        def mount(where, *arguments):
            where.mkdir(exist_ok=True)
            try:
                run("mount", *arguments, where)
            except (OSError, subprocess.CalledProcessError) as error:
                pytest.skip(f"disks cannot be mounted here: {getattr(error, 'stderr', '') or error}")
            stack.callback(subprocess.run, ["umount", "-l", str(where)], capture_output=True, check=False)

        yield mount
