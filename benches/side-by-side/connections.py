"""Memory of idle keep-alive connections and of open slow calls."""
import kit

IDLE_BYTES, HELD_BYTES = 1024, 4096
CASES = [("idle keep-alive connection", "echo", "idle", IDLE_BYTES), ("open slow call", "hold", "held", HELD_BYTES)]


def rows(options):
    for what, tool, count, bound in CASES:
        count = getattr(options, count)
        targets = {"ours": kit.ours(options), "rmcp": kit.rmcp("--style", "hand")}
        found = {name: measure(command, tool, count) for name, command in targets.items()}
        options.keep("connections", [found])
        kit.note(f"{what}: " + ", ".join(f"{name} {each['bytes_each']:.0f} bytes" for name, each in found.items()))
        yield kit.at_most(f"RSS per {what}, {count}", found["ours"]["bytes_each"], bound, "bytes")
        yield kit.Row(f"RSS per {what} of rmcp, {count}", f"{found['rmcp']['bytes_each']:.0f} bytes")


def measure(command, tool, count):
    with kit.serving(command) as server:
        return kit.client("connections", server, "--count", count, "--tool", tool)
