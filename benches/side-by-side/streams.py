"""Subscription streams: memory, one event to all of them, and bursts of updates of one URI.

"loop" is limits/fan_loop: it sends as many bytes to as many sockets, one send each, and nothing else. The same client
reads from everyone: it counts messages, takes the kernel's arrival times, and reads the server's CPU clock and memory.
"""
import statistics

import kit

CPU, LAST = ("most", 1.3), ("most", 1.3)
IDLE_BYTES, CLOSED, MESSAGES = 1536, 1.05, 3


def rows(options):
    event = measure(kit.ours(options), 1, 1)["events"][0]
    # The loop sends the very number of bytes that an event of ours has.
    loop = [kit.LIMITS / "fan_loop", "--port", "{port}", "--event-bytes", round(event["bytes"])]
    targets = {"ours": kit.ours(options), "loop": loop, "rmcp": kit.rmcp("--style", "hand")}
    for streams in options.streams:
        found = []
        for number in range(options.rounds):
            found.append({name: measure(targets[name], streams, options.events) for name in options.shuffled(targets)})
            told = "  ".join(f"{name} {middle(each, 'cpu_us'):.2f} us, last {middle(each, 'last_ms'):.0f} ms"
                             for name, each in sorted(found[-1].items()))
            kit.note(f"streams {streams}, round {number}: {told}")
        options.keep("streams", found)
        yield from events(streams, found)
        yield from memory(streams, found)
    yield from bursts(options)


def measure(command, streams, events):
    with kit.serving(command) as server:
        return kit.client("streams", server, "--streams", streams, "--events", events)


def middle(found, figure):
    return statistics.median(event[figure] for event in found["events"])


def events(streams, found):
    for what, figure, unit, bound in (("CPU per delivered event", "cpu_us", "us", CPU), ("last stream has it", "last_ms", "ms", LAST)):
        rounds = [{name: middle(each, figure) for name, each in one.items()} for one in found]
        yield from kit.ratios(f"{what}, {streams} streams", unit, rounds, {"loop": bound, "rmcp": ("least", None)})


def memory(streams, found):
    own = [one["ours"] for one in found]
    for what, when in (("RSS per idle stream", "rss_open"), ("the same after events", "rss_after_events")):
        each = statistics.median((one[when] - one["rss_base"]) / streams for one in own)
        yield kit.at_most(f"{what}, {streams}", each, IDLE_BYTES, "bytes")
    closed = statistics.median(one["rss_closed"] / one["rss_base"] for one in own)
    yield kit.at_most(f"RSS after they closed, {streams}", closed, CLOSED, "of RSS before")
    peer = statistics.median((one["rmcp"]["rss_open"] - one["rmcp"]["rss_base"]) / streams for one in found)
    yield kit.Row(f"RSS per idle stream of rmcp, {streams}", f"{peer:.0f} bytes")


def bursts(options):
    streams, found = max(options.streams), []
    for _ in range(max(1, options.rounds // 2)):
        with kit.serving(kit.ours(options)) as server:
            found.append(kit.client("streams", server, "--streams", streams, "--uri", kit.WATCHED, "--burst", options.burst))
        kit.note(f"burst: {found[-1]['bursts']}")
    options.keep("bursts", found)
    for at, name in enumerate(("one call", "pipelined calls")):
        each = [one["bursts"][at] for one in found]
        what = f"burst of {options.burst} updates by {name}, {streams} streams"
        if any(one["answers"] != (1 if at == 0 else options.burst) or not one["quiet"] for one in each):
            yield kit.Row(what, str(each), "", "errors")
            continue
        most, stale = max(one["messages_most"] for one in each), max(one["stale"] for one in each)
        yield kit.at_most(what, most, MESSAGES, "messages")
        yield kit.at_most(f"{what}, last message before the last update", stale, 0, "streams")
