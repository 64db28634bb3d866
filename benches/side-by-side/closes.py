"""From a client's close until the destructor in the handler has run, idle and with 16 busy connections.

Both sides read the same clock: the client right before it closes, the destructor of `hold` when it runs. The future of
any handler of ours is dropped; rmcp's handler watches its token, or it would run on.
"""
import kit

IDLE_MS, BUSY_MS, BUSY = 0.3, 2, 16


def rows(options):
    targets = {"ours": kit.ours(options), "rmcp": kit.rmcp("--style", "hand")}
    for busy, bound in ((0, IDLE_MS), (BUSY, BUSY_MS)):
        what = f"close to destructor, p99, {f'{busy} busy connections' if busy else 'idle'}"
        for name in options.shuffled(targets):
            with kit.serving(targets[name]) as server:
                found = kit.client("closes", server, "--count", options.closes, "--busy", busy)
            options.keep("closes", [dict(found, target=name)])
            kit.note(f"{what}: {name} p50 {found['p50_ms']:.3f}, p90 {found['p90_ms']:.3f}, p99 {found['p99_ms']:.3f} ms")
            if found["released"] < found["closed"]:
                yield kit.Row(f"{what}, {name}", f"{found['released']} of {found['closed']} dropped", "", "errors")
            elif name == "ours":
                yield kit.at_most(what, found["p99_ms"], bound, "ms")
            else:
                yield kit.Row(f"{what}, {name}", f"{found['p99_ms']:.2f} ms")
