"""Two workers against one. With four cores or more: requests a second, the generator on cores of its own.

With fewer it shares a core with a worker, which changes what a request costs there. So two workers of one server are
held against two servers of one worker each, on the same cores under the same load: these share nothing at all, and
what a request costs must be the same.
"""
import concurrent.futures
import contextlib
import os
import statistics

import echo
import kit

CONNECTIONS, MORE, SAME = 32, 1.8, 1.10  # Connections of each of the two generators.


def rows(options):
    cores = os.cpu_count()
    together = (options, [(2, range(2))])
    apart = (options, [(1, range(2))] * 2 if cores < 4 else [(1, [0])])
    rounds = []
    for number in range(options.rounds):
        targets = {"two workers": together, "one each": apart}
        rounds.append({name: measure(*targets[name]) for name in options.shuffled(targets)})
        kit.note(f"workers, round {number}: {rounds[-1]}")
    options.keep("workers", rounds)
    figure = "cpu_us" if cores < 4 else "per_s"
    ratio = statistics.median(one["two workers"][figure] / one["one each"][figure] for one in rounds)
    if cores < 4:
        yield kit.at_most("CPU per request, two workers against two servers of one", ratio, SAME, "x")
    else:
        verdict = "kept" if ratio >= MORE else "missed"
        yield kit.Row("requests a second, two workers against one", f"{ratio:.2f} x", f">= {MORE} x", verdict)


def measure(options, servers):
    """Two generators at once, each at its own server where there are two."""
    with contextlib.ExitStack() as stack:
        # Not favoured: the scheduler would favour two processes more than one.
        started = [stack.enter_context(kit.serving(kit.ours(options, workers=workers), cores, favoured=False))
                   for workers, cores in servers]
        asked = [started[0], started[-1]]
        generate(asked, 1)
        before = [server.cpu_ns() for server in started]
        results = generate(asked, options.secs)
        spent = sum(server.cpu_ns() for server in started) - sum(before)
    requests = sum(result["requests"] for result in results)
    return {"cpu_us": spent / 1e3 / max(1, requests), "per_s": requests * 1e6 / results[0]["duration_us"]}


def generate(servers, secs):
    cores = [[2], [3]] if os.cpu_count() >= 4 else [[kit.CLIENT_CORE]] * 2
    with concurrent.futures.ThreadPoolExecutor() as pool:
        loads = [pool.submit(echo.load, server, CONNECTIONS, 1, secs, own) for server, own in zip(servers, cores)]
        return [load.result() for load in loads]
