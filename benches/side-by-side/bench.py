#!/usr/bin/env python3
"""Side-by-side load rounds: the server pinned to core 0, wrk (1 thread) to core 1, on loopback.

bench.py --targets a,b,c --conns 1,16,64,256 --rounds 3 --secs 5 --out FILE.jsonl [--pipeline N]
bench.py --summary FILE.jsonl [--base NAME]

Each round goes through every target once, in a new random order, so that noise on a shared
machine falls on all of them. Server CPU is the process's own CPU clock (ns, exact sum of its
threads), so CPU per request holds even where wrk or a neighbour is the bottleneck.
"""
import argparse, json, os, random, re, signal, socket, statistics, subprocess, sys, time

H = os.path.dirname(os.path.abspath(__file__))
L = f"{H}/limits/target/release"
R = f"{H}/rmcp-echo/target/release/rmcp-echo"
TARGETS = {
    "rmcp-hyper": ([R, "--http", "hyper", "--style", "hand", "--port", "8101"], 8101),
    "rmcp-axum": ([R, "--http", "axum", "--style", "macro", "--port", "8111"], 8111),
    "rmcp-hyper-macro": ([R, "--http", "hyper", "--style", "macro", "--port", "8101"], 8101),
    "rmcp-axum-hand": ([R, "--http", "axum", "--style", "hand", "--port", "8111"], 8111),
    "ts-node": (["node", f"{H}/ts-echo/server.mjs", "8102"], 8102),
    "monoio-uring": ([f"{L}/monoio_http", "--port", "8201"], 8201),
    "monoio-buf1k": ([f"{L}/monoio_http", "--port", "8201", "--buf", "1024"], 8201),
    "monoio-coop": ([f"{L}/monoio_http", "--port", "8201", "--ring", "coop"], 8201),
    "monoio-defer": ([f"{L}/monoio_http", "--port", "8201", "--ring", "defer"], 8201),
    "monoio-epoll": ([f"{L}/monoio_http", "--port", "8201", "--driver", "epoll"], 8201),
}
TARGETS["monoio-mcp"] = ([f"{L}/monoio_http", "--port", "8201", "--parse", "mcp"], 8201)

# More servers, ours for one: EXTRA_TARGETS='{"ours": [["PATH", "--listen", "127.0.0.1:8301", "--workers", "1"], 8301]}'
TARGETS.update(json.loads(os.environ.get("EXTRA_TARGETS", "{}")))


def pinned(core):
    def f():
        os.sched_setaffinity(0, {core})
        os.setsid()  # an autogroup of its own: nice counts only between autogroups
        open("/proc/self/autogroup", "w").write("-10")
    return f


def cpu_ns(pid):
    return time.clock_gettime_ns((~pid << 3) | 2)


def stat(pid):
    f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return int(f[11]), int(f[12])


def hwm(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])


def steal():
    out = {}
    for l in open("/proc/stat"):
        if re.match(r"cpu\d", l):
            f = l.split()
            out[f[0]] = int(f[8])
    return out


def wrk(port, conns, secs, pipeline):
    env = dict(os.environ, PIPELINE=str(pipeline), MCP_PATH="/mcp")
    r = subprocess.run(["wrk", "-t1", f"-c{conns}", f"-d{secs}s", "--timeout", "5s", "-s", f"{H}/call.lua", f"http://127.0.0.1:{port}"],
                       env=env, preexec_fn=pinned(1), capture_output=True, text=True)
    m = re.search(r"RESULT (.*)", r.stdout)
    return {k: int(v) for k, v in (x.split("=") for x in m[1].split())}


def start(name):
    cmd, port = TARGETS[name]
    p = subprocess.Popen(cmd, preexec_fn=pinned(0), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return p, port
        except OSError:
            time.sleep(0.05)
    p.kill()
    raise SystemExit(f"{name} does not listen")


def run(a):
    out = open(a.out, "a")
    names = a.targets.split(",")
    for rnd in range(a.rounds):
        random.shuffle(names)
        for name in names:
            p, port = start(name)
            try:
                wrk(port, 16, 3 if name == "ts-node" else 1, a.pipeline)
                for c in map(int, a.conns.split(",")):
                    u0, s0 = stat(p.pid); n0 = cpu_ns(p.pid); st0 = steal()
                    r = wrk(port, c, a.secs, a.pipeline)
                    n1 = cpu_ns(p.pid); u1, s1 = stat(p.pid); st1 = steal()
                    row = dict(target=name, conns=c, pipeline=a.pipeline, round=rnd, **r,
                               rps=r["requests"] / (r["duration_us"] / 1e6),
                               cpu_us=(n1 - n0) / 1e3 / max(1, r["requests"]), util=(n1 - n0) / 1e3 / r["duration_us"],
                               sysfrac=(s1 - s0) / max(1, u1 - u0 + s1 - s0), hwm_kb=hwm(p.pid),
                               steal={k: st1[k] - st0[k] for k in st0}, load=os.getloadavg()[0])
                    out.write(json.dumps(row) + "\n"); out.flush()
                    print(f"{rnd} {name:18} c={c:<4} {row['rps']:9.0f} r/s {row['cpu_us']:7.2f} us cpu  util {row['util']:.2f} sys {row['sysfrac']:.2f} p50 {r['p50']} p99 {r['p99']} hwm {row['hwm_kb']} err {r['status']+r['read']+r['timeout']+r['connect']}", flush=True)
            finally:
                p.send_signal(signal.SIGKILL); p.wait()
            time.sleep(0.2)


def summary(path, base):
    rows = [json.loads(l) for l in open(path)]
    by = {}
    for r in rows:
        by.setdefault((r["pipeline"], r["conns"], r["target"]), []).append(r)
    med = lambda k, rs: statistics.median(r[k] for r in rs)
    for pl, c in sorted({k[:2] for k in by}):
        print(f"\n## connections {c}" + (f", pipeline {pl}" if pl > 1 else ""))
        print("| target | req/s | CPU us/req | user us | kernel us | core 0 use | p50 us | p99 us | peak RSS MiB | n |\n|---|---|---|---|---|---|---|---|---|---|")
        keys = [k for k in by if k[:2] == (pl, c)]
        for k in sorted(keys, key=lambda k: med("cpu_us", by[k])):
            rs = by[k]; cu = med("cpu_us", rs); sf = med("sysfrac", rs)
            print(f"| {k[2]} | {med('rps', rs):.0f} | {cu:.2f} ({min(r['cpu_us'] for r in rs):.2f}) | {cu*(1-sf):.2f} | {cu*sf:.2f} | {med('util', rs):.2f} | {med('p50', rs):.0f} | {med('p99', rs):.0f} | {med('hwm_kb', rs)/1024:.1f} | {len(rs)} |")


ap = argparse.ArgumentParser()
ap.add_argument("--targets"); ap.add_argument("--conns", default="1,16,64,256"); ap.add_argument("--rounds", type=int, default=3)
ap.add_argument("--secs", type=int, default=5); ap.add_argument("--pipeline", type=int, default=1); ap.add_argument("--out")
ap.add_argument("--summary"); ap.add_argument("--base")
a = ap.parse_args()
summary(a.summary, a.base) if a.summary else run(a)
