"""Large answers and arguments: CPU per request of a long list, pages summed, and of 1 MiB of nested arguments.

"bytes" is limits/fixed, which sends the very pages of our list. "parser" is limits/rows_loop, simd-json's own parse and
deserialisation into the handler's type, with half a millisecond for receiving it. rmcp lists the same tools.
"""
import contextlib
import json

import kit

TOOLS = 1000
SMALLER_BYTES = 676_000
ROWS_BYTES = 1 << 20
RECEIVING_US = 500


def rows(options):
    _, fixture = pages(kit.ours(options))
    bodies, _ = pages(catalogue(options, TOOLS - len(fixture)))
    fewer = TOOLS * SMALLER_BYTES // sum(map(len, bodies))
    for tools in (TOOLS, fewer):
        yield from lists(options, catalogue(options, tools - len(fixture)))
    yield from arguments(options)


def catalogue(options, tools):
    return kit.ours(options, "--catalogue", tools)


def lists(options, ours):
    bodies, tools = pages(ours)
    files = []
    for number, body in enumerate(bodies):
        files.append(options.out / f"page-{number}.json")
        files[-1].write_bytes(body)
    listed = options.out / "tools.json"
    listed.write_text(json.dumps(tools))
    fixed = [kit.LIMITS / "fixed", "--port", "{port}", "--bodies", ",".join(map(str, files))]
    targets = {"ours": ours, "bytes": fixed, "rmcp": kit.rmcp("--style", "hand", "--tools", listed)}
    rounds = interleaved(options, "list", targets, lambda connection: walk(connection, len(bodies)))
    what = f"tools/list of {len(tools)} tools, {sum(map(len, bodies)) / 1e3:.0f} kB"
    yield from kit.ratios(what, "us", rounds, {"bytes": ("most", 1.2), "rmcp": ("least", 12)})


def pages(command):
    """The pages of the list as they are on the wire, and the tools in them."""
    bodies, tools, cursor = [], [], None
    with kit.serving(command) as server:
        connection = kit.Connection(server)
        while cursor or not bodies:
            bodies.append(bytes(connection.ask(page(cursor))))
            result = json.loads(bodies[-1])["result"]
            tools += result["tools"]
            cursor = result.get("nextCursor")
    return bodies, tools


def page(cursor):
    return kit.request("tools/list", f'"cursor":{json.dumps(cursor)}' if cursor else "")


def walk(connection, count):
    """Asks for every page. Only a list of several is read for its cursors."""
    cursor = None
    for _ in range(count):
        body = connection.ask(page(cursor))
        if count > 1:
            cursor = json.loads(bytes(body))["result"].get("nextCursor")
            if not cursor:
                return


def arguments(options):
    request = kit.call("rows_sum", table())
    body = options.out / "rows.json"
    body.write_bytes(request.split(b"\r\n\r\n", 1)[1])
    targets = {"ours": kit.ours(options), "rmcp": kit.rmcp("--style", "hand")}
    rounds = interleaved(options, "rows", targets, lambda connection: connection.ask(request))
    for one in rounds:
        alone = float(kit.run([kit.LIMITS / "rows_loop", body, "--documents", options.requests], cores=[kit.SERVER_CORE]))
        one["parser + 0.5 ms"] = alone + RECEIVING_US
    options.keep("rows", rounds)
    what = f"rows_sum of {body.stat().st_size / 1024:.0f} KiB"
    yield from kit.ratios(what, "us", rounds, {"parser + 0.5 ms": ("most", 1.15), "rmcp": ("least", 7)})


def table():
    """Rows of nested values, until they weigh 1 MiB."""
    made, weight = [], 0
    while weight < ROWS_BYTES:
        at = len(made)
        made.append(json.dumps({
            "id": at, "name": f"row number {at}", "active": at % 2 == 1, "score": at * 7 % 1000 + at % 1000 / 1000,
            "tags": ["alpha", "beta", f"g{at % 17}"],
            "pos": {"lat": at % 90 + 0.5, "lon": -(at % 180) - 0.25, "alt": None if at % 3 else 12.5},
            "note": None if at % 2 else "noted"}, separators=(",", ":")))
        weight += len(made[-1]) + 1
    return '{"rows":[' + ",".join(made) + "]}"


def interleaved(options, name, targets, ask):
    """CPU in microseconds of one `ask` of each target in every round; all targets run throughout, idle but for one."""
    with contextlib.ExitStack() as stack:
        servers = {each: stack.enter_context(kit.serving(command)) for each, command in targets.items()}
        connections = {each: kit.Connection(server) for each, server in servers.items()}
        rounds = []
        for number in range(options.rounds):
            rounds.append({each: cost(servers[each], connections[each], options.requests, ask)
                           for each in options.shuffled(targets)})
            kit.note(f"{name}, round {number}: " + "  ".join(f"{each} {us:.0f} us" for each, us in sorted(rounds[-1].items())))
        options.keep(name, rounds)
        return rounds


def cost(server, connection, times, ask):
    for _ in range(3):
        ask(connection)
    before = server.cpu_ns()
    for _ in range(times):
        ask(connection)
    return (server.cpu_ns() - before) / times / 1e3
