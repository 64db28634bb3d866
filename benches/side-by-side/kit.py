"""What the measuring parts share: where the programs are, how a server is started and stopped, requests, and rows.

Servers run on core 0, whatever asks them on core 1. Every server gets a port from the kernel, is killed by its own
process id, and is asked once before it is measured.
"""
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMITS, CLIENT, RMCP = (HERE / where / "target/release" for where in ("limits", "client", "rmcp-echo"))
SERVER_CORE, CLIENT_CORE = 0, 1
FILES = 20_000  # Descriptors: 10,000 connections, and some.
WATCHED = "test://watched-resource"

META = ('"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},'
        '"io.modelcontextprotocol/clientCapabilities":{}}')


# ---- servers

def ours(options, *more, workers=1):
    return [options.server, "--listen", "127.0.0.1:{port}", "--workers", workers, "--handlers", "everything",
            "--driver", options.driver, *more]


def floor():
    return [LIMITS / "monoio_http", "--port", "{port}"]


def least():
    return [*floor(), "--parse", "mcp"]


def rmcp(*more):
    return [RMCP / "rmcp-echo", "--http", "axum", "--port", "{port}", *more]


def typescript():
    return ["node", HERE / "ts-echo/server.mjs", "{port}"]


class Server:
    """A running server under test."""

    def __init__(self, process, port):
        self.process, self.port, self.pid = process, port, process.pid

    def cpu_ns(self):
        """CPU time of all its threads so far, by its own clock."""
        return time.clock_gettime_ns((~self.pid << 3) | 2)


@contextlib.contextmanager
def serving(command, cores=(SERVER_CORE,), favoured=True):
    """Starts a server, waits until it answers, and kills it at the end of the block, whatever happens in it."""
    for attempt in (1, 2, 3):
        server = launch(command, cores, favoured)
        try:
            if answers(server):
                yield server
                return
        finally:
            server.process.kill()
            server.process.wait()
    raise SystemExit(f"does not answer: {' '.join(map(str, command))}")


def launch(command, cores, favoured=True):
    # A new port for every start: a killed process's ring lets go of its listener late, and resets who asks meanwhile.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(word).replace("{port}", str(port)) for word in command]
    if not os.access(command[0], os.X_OK) and "/" in command[0]:
        raise SystemExit(f"{command[0]} is not built: see README.md")
    return Server(subprocess.Popen(command, preexec_fn=lambda: prepare(cores, favoured), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL), port)


def prepare(cores, favoured):
    """In the new process: its cores, as many files as it may need; out of the terminal's reach, and before others."""
    os.sched_setaffinity(0, set(cores))
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    if favoured:
        os.setsid()
        with contextlib.suppress(OSError):  # nice counts only within a group of its own, which setsid has made.
            with open("/proc/self/autogroup", "w") as group:
                group.write("-10")


def answers(server, patience=10):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and server.process.poll() is None:
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", server.port), 1) as peer:
                peer.settimeout(2)
                peer.sendall(call("echo", '{"text":"hello"}'))
                if peer.recv(1):
                    return True
        time.sleep(0.02)
    return False


def run(command, timeout=300, cores=(CLIENT_CORE,), **more):
    """Runs a measuring program to its end; what it printed."""
    command = [str(word) for word in command]
    done = subprocess.run(command, preexec_fn=lambda: os.sched_setaffinity(0, set(cores)), timeout=timeout,
                          capture_output=True, text=True, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def client(what, server, *more, **options):
    """Runs the measuring client; its figures."""
    command = [CLIENT / "client", what, "--port", server.port, "--pid", server.pid, *more]
    return json.loads(run(command, **options))


# ---- requests

def request(method, params, name=None):
    body = f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}{"," * bool(params)}{params}}}}}'.encode()
    named = f"Mcp-Name: {name}\r\n" if name else ""
    head = ("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
            f"Mcp-Method: {method}\r\n{named}Content-Length: {len(body)}\r\n\r\n")
    return head.encode() + body


def call(tool, arguments):
    return request("tools/call", f'"name":"{tool}","arguments":{arguments}', tool)


class Connection:
    """One keep-alive connection that asks and reads whole answers, with no more work than that takes."""

    def __init__(self, server):
        self.peer = socket.create_connection(("127.0.0.1", server.port), 5)
        self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.peer.settimeout(20)
        self.buffer = bytearray(8 << 20)
        self.view = memoryview(self.buffer)

    def ask(self, request):
        """The body of the answer, a view that the next question overwrites."""
        self.peer.sendall(request)
        got, end = 0, -1
        while end < 0:
            got = self.more(got)
            end = self.buffer.find(b"\r\n\r\n", 0, got)
        head = bytes(self.buffer[:end]).lower()
        if b" 200" not in head[:16]:
            raise RuntimeError(bytes(self.buffer[:got])[:500])
        wanted = end + 4 + int(re.search(rb"content-length: (\d+)", head)[1])
        while got < wanted:
            got = self.more(got)
        return self.view[end + 4:wanted]

    def more(self, got):
        read = self.peer.recv_into(self.view[got:])
        if not read:
            raise RuntimeError("the server closed the connection")
        return got + read


# ---- rows of the table

class Row(dict):
    """what is measured, its figure, what is wanted, and the verdict: kept, missed, errors, not measured, or none."""

    def __init__(self, what, figure, wanted="", verdict=""):
        super().__init__(what=what, figure=figure, wanted=wanted, verdict=verdict)


def at_most(what, value, bound, unit):
    return Row(what, f"{value:.2f} {unit}".replace(".00 ", " "), f"<= {bound} {unit}", "kept" if value <= bound else "missed")


def ratios(what, unit, rounds, wanted):
    """A row for each of `wanted`: {other: ("most" | "least", bound)}, a bound of None where nothing is demanded.

    `rounds` is a list of {target: figure}. A ratio is the median of the rounds' own ratios, since the machine drifts
    between rounds; a round in which a target is missing counts for the others."""
    middle = {name: statistics.median(values) for name, values in by_target(rounds).items()}
    for other, (kind, bound) in wanted.items():
        pairs = [(each["ours"], each[other]) for each in rounds if each.get("ours") and each.get(other)]
        sign, over = ("<=", f"ours / {other}") if kind == "most" else (">=", f"{other} / ours")
        wanted_text = f"{over} {sign} {bound}" if bound else over
        if not pairs:
            yield Row(what, "", wanted_text, "not measured")
            continue
        ratio = statistics.median(mine / its if kind == "most" else its / mine for mine, its in pairs)
        figure = f"ours {middle['ours']:.2f}, {other} {middle[other]:.2f} {unit}: {ratio:.2f}"
        kept = bound and (ratio <= bound if kind == "most" else ratio >= bound)
        yield Row(what, figure, wanted_text, "" if not bound else "kept" if kept else "missed")


def by_target(rounds):
    return {name: [each[name] for each in rounds if name in each] for name in sorted({name for each in rounds for name in each})}


def note(text):
    """What is going on, for whoever waits."""
    print(text, flush=True)


def end_on_signals():
    """SIGTERM unwinds as Ctrl-C does, so that every server is killed."""
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
