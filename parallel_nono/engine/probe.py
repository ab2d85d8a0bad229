"""A program of its own: says whether a Ray cluster answers at HOST:PORT, and whether it lets us in.

Ray's client waits 40 s where nobody answers, without hearing a signal, and some of its errors end the process; so it is
asked in a process that `environment` can kill. It needs Ray and nothing of ours. The token, or its lack, is that of its
environment. It prints one line: `open`, `locked` (another token, or none, is wanted) or `mute WHY`.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

CONNECT_S, ASK_S = 5.0, 5.0


def answer(address: str) -> str:
    """The line to print."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
    except OSError as error:
        return f"mute {error.strerror or error}"
    import ray._raylet
    from ray.exceptions import AuthenticationError

    client: Any = ray._raylet
    try:
        client.GcsClient(address=address).get_all_node_info(timeout=ASK_S)
    except AuthenticationError:
        return "locked"
    except Exception as error:  # Ray raises many kinds; all mean that it is no Ray, or not one of ours
        return f"mute {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    return "open"


if __name__ == "__main__":
    os.write(1, answer(sys.argv[1]).encode() + b"\n")
