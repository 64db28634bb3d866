"""From starting the process to the first byte of an answer. A try that is refused costs 0.2 ms."""
import socket
import statistics
import time

import kit

START_MS = 20
REQUEST = b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def rows(options):
    figures = [first_answer(kit.ours(options)) for _ in range(options.starts)]
    options.keep("startup", figures)
    kit.note(f"start-up: {min(figures):.1f} to {max(figures):.1f} ms")
    yield kit.at_most(f"start-up to first answer, median of {options.starts}", statistics.median(figures), START_MS, "ms")


def first_answer(command):
    began = time.monotonic()
    server = kit.launch(command, [kit.SERVER_CORE])
    try:
        while time.monotonic() - began < 5:
            try:
                with socket.create_connection(("127.0.0.1", server.port), 1) as peer:
                    peer.settimeout(2)
                    peer.sendall(REQUEST)
                    if not peer.recv(1):
                        raise RuntimeError("the server closed without an answer")
                    return (time.monotonic() - began) * 1e3
            except ConnectionRefusedError:
                time.sleep(0.0002)
        raise RuntimeError("the server does not listen")
    finally:
        server.process.kill()
        server.process.wait()
