#!/usr/bin/env python3
"""Checks a release binary: startup time, idle memory and size fail at twice the target, paths of this machine at once."""

import http.client
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# What docs/development.md promises: milliseconds to /readyz, MB resident when idle, MB on disk.
TARGETS = {"startup to /readyz": (20, "ms"), "idle memory": (30, "MB"), "size": (25, "MB")}
ROUNDS = 7


def start(program, data):
    """Starts the server and waits until it is ready; the process and how long that took."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GANGWAY_", "OPENAI_"))}
    begin = time.monotonic()
    server = subprocess.Popen(
        [program, "serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--data", data],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    address = next(word for word in server.stdout.readline().split() if word.startswith("http://"))
    host = address.removeprefix("http://").split("/")[0]
    while True:
        connection = http.client.HTTPConnection(host)
        connection.request("GET", "/readyz")
        if connection.getresponse().status == 200:
            return server, (time.monotonic() - begin) * 1000
        if time.monotonic() - begin > 30:
            sys.exit("the server is not ready after 30 seconds")


def resident(process):
    with open(f"/proc/{process}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1000


def private_paths(program):
    """Paths of the machine that built it: they help nobody who runs it, and differ between two builds of the same source."""
    with open(program, "rb") as file:
        code = file.read()
    here = [os.path.expanduser("~/.cargo"), os.environ.get("CARGO_HOME"), os.getcwd()]
    return [path for path in here if path and path.encode() + b"/" in code]


def main():
    program = sys.argv[1]
    times, memory = [], 0
    with tempfile.TemporaryDirectory() as data:
        for number in range(ROUNDS):
            server, took = start(program, data)
            times.append(took)
            if number == ROUNDS - 1:
                # What runs once after the start is over by then.
                time.sleep(3)
                memory = resident(server.pid)
            server.send_signal(signal.SIGTERM)
            server.wait()
    measured = {
        "startup to /readyz": statistics.median(times),
        "idle memory": memory,
        "size": os.path.getsize(program) / 1e6,
    }
    failed = False
    for what, (target, unit) in TARGETS.items():
        over = measured[what] > 2 * target
        failed |= over
        verdict = "FAILED: more than twice the target" if over else "above the target" if measured[what] > target else "ok"
        print(f"{what}: {measured[what]:.1f} {unit}, target {target} {unit}: {verdict}")
    for path in private_paths(program):
        failed = True
        print(f"FAILED: the binary contains paths below {path}")
    sys.exit(failed)


main()
