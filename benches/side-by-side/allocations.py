"""Allocations of a warm request beside the handler's: a test counts them, and fails where there is one."""
import subprocess

import kit

TEST = ["cargo", "test", "--locked", "-p", "ringmcp", "--test", "no_alloc"]


def rows(options):
    done = subprocess.run(TEST, cwd=kit.HERE.parents[1], capture_output=True, text=True)
    (options.out / "allocations.txt").write_text(done.stdout + done.stderr)
    kept = done.returncode == 0
    yield kit.Row("allocations per warm request", "none" if kept else "see allocations.txt", "none", "kept" if kept else "missed")
