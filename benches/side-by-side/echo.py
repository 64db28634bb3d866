"""CPU per request of `tools/call` of `echo`, with wrk on the other core: unpipelined, and 16 requests in a write."""
import os
import re

import kit

UNPIPELINED = {"least": ("most", 1.10), "floor": ("most", 1.25), "rmcp": ("least", 4), "typescript": ("least", 60)}
PIPELINED = {"least": ("most", 1.15), "rmcp": ("least", 12)}
# Connections, requests in a write, what is wanted.
CASES = [(64, 1, UNPIPELINED), (256, 1, UNPIPELINED), (16, 16, PIPELINED)]


def rows(options):
    targets = {"ours": kit.ours(options), "floor": kit.floor(), "least": kit.least(), "rmcp": kit.rmcp("--style", "macro")}
    if options.typescript:
        targets["typescript"] = kit.typescript()
    found = {case[:2]: [] for case in CASES}
    failed = set()
    for number in range(options.rounds):
        for each in found.values():
            each.append({})
        for name in options.shuffled(targets):
            with kit.serving(targets[name]) as server:
                load(server, 16, 1, 1)
                for case, each in found.items():
                    each[-1][name], errors = cost(server, *case, options.secs)
                    if errors:
                        failed.add((case, name))
                kit.note(f"echo, round {number}: {name} "
                         + ", ".join(f"c={case[0]}/{case[1]} {each[-1][name]:.2f} us" for case, each in found.items()))
    options.keep("echo", [{f"c={c} deep={d}": each for (c, d), each in found.items()}])
    for conns, depth, wanted in CASES:
        what = f"CPU per request, c={conns}" + (f", {depth} deep" if depth > 1 else "")
        for row in kit.ratios(what, "us", found[conns, depth], wanted):
            if any(case == (conns, depth) and name in row["figure"] for case, name in failed):
                row["verdict"] = "errors"
            yield row


def cost(server, conns, depth, secs):
    """Microseconds of the server's CPU a request, and how many requests went wrong."""
    before = server.cpu_ns()
    result = load(server, conns, depth, secs)
    spent = server.cpu_ns() - before
    errors = sum(result[kind] for kind in ("connect", "read", "write", "status", "timeout"))
    return spent / 1e3 / max(1, result["requests"]), errors + (not result["requests"])


def load(server, conns, depth, secs, cores=(kit.CLIENT_CORE,)):
    text = kit.run(["wrk", "-t1", f"-c{conns}", f"-d{secs}s", "--timeout", "5s", "-s", kit.HERE / "echo.lua",
                    f"http://127.0.0.1:{server.port}"], env=dict(os.environ, PIPELINE=str(depth)), cores=cores)
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", re.search(r"RESULT (.*)", text)[1])}
