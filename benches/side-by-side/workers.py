"""Two workers against one. With four cores or more: requests a second. With fewer, since the generator needs a core of
its own: what a request costs, which a second worker must not change."""
import os
import statistics

import echo
import kit

CONNECTIONS, MORE, SAME = 64, 1.8, 1.10


def rows(options):
    cores = os.cpu_count()
    rounds = []
    for number in range(options.rounds):
        rounds.append({workers: measure(options, workers, cores) for workers in options.shuffled((1, 2))})
        kit.note(f"workers, round {number}: {rounds[-1]}")
    options.keep("workers", [{str(workers): each for workers, each in one.items()} for one in rounds])
    if cores >= 4:
        ratio = statistics.median(one[2]["per_s"] / one[1]["per_s"] for one in rounds)
        yield kit.Row("two workers against one, requests a second", f"{ratio:.2f} x", f">= {MORE} x", "kept" if ratio >= MORE else "missed")
        return
    ratio = statistics.median(one[2]["cpu_us"] / one[1]["cpu_us"] for one in rounds)
    yield kit.at_most("two workers against one, CPU per request", ratio, SAME, "x")


def measure(options, workers, cores):
    command = [word if word != "1" else str(workers) for word in kit.ours(options)]
    with kit.serving(command, range(workers)) as server:
        generators = max(1, cores - 2)
        echo.load(server, CONNECTIONS, 1, 1)
        before = server.cpu_ns()
        result = echo.load(server, CONNECTIONS, 1, options.secs, generators, range(cores - generators, cores))
        spent = server.cpu_ns() - before
    return {"cpu_us": spent / 1e3 / max(1, result["requests"]), "per_s": result["requests"] * 1e6 / result["duration_us"]}
