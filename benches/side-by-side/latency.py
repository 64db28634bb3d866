"""p99 at 70 % of our own peak rate, 64 connections: the floor gets the same rate.

ringmcp-loadtest counts from when a request was due, so what waits behind a stall counts as late too. It checks the
status alone: the floor's answer is always the same one.
"""
import json

import kit

CONNECTIONS, SHARE, BOUND = 64, 0.7, 1.3


def rows(options):
    targets = {"ours": kit.ours(options), "floor": kit.floor()}
    rounds, peaks = [], []
    for number in range(options.rounds):
        with kit.serving(targets["ours"]) as server:
            peaks.append(load(options, server)["ok_per_s"])
        rate = int(peaks[-1] * SHARE)
        rounds.append({})
        for name in options.shuffled(targets):
            with kit.serving(targets[name]) as server:
                found = load(options, server, "--rate", rate)
            if found["errors"]:
                raise RuntimeError(f"{name} failed {found['errors']} requests")
            rounds[-1][name] = found["latency_us"]["p99"]
        kit.note(f"latency, round {number}: peak {peaks[-1]:.0f}/s; p99 at {rate}/s: {rounds[-1]}")
    options.keep("latency", [{"peaks": peaks, "p99_us": rounds}])
    yield from kit.ratios(f"p99 at 70 % of our peak, c={CONNECTIONS}", "us", rounds, {"floor": ("most", BOUND)})


def load(options, server, *more):
    report = options.out / "load.json"
    kit.run([options.loadtest, "run", "--url", f"http://127.0.0.1:{server.port}/mcp", "--scenario", "tools-call", "--tool",
             "echo", "--verify", "none", "--connections", CONNECTIONS, "--duration", f"{options.secs}s", "--json", report, *more])
    return json.loads(report.read_text())
