"""``mnemon`` commands in processes of their own, without the seconds that each needs to import torch.

Run as a program: it imports mnemon once and forks a process for every command that it is given, which has its own
folder, environment and output, and ends as a user's does. :func:`run` starts it when it is first needed.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "NO_COLOR": "1"}


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``mnemon ARGUMENTS`` does in a folder."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        files = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (stdout, stderr)]
        server.stdin.write(json.dumps([arguments, str(folder), files]).encode() + b"\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, _content(stdout), _content(stderr))


@cache
def _server() -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.command_server"]
    root = Path(__file__).parent.parent
    server = subprocess.Popen(command, cwd=root, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.kill)
    return server


def _content(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode())


def _child(arguments: list[str], folder: str, files: list[str]) -> None:
    """Become the process of a command."""
    from mnemon.cli import main

    os.chdir(folder)
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(files, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
    sys.argv = ["mnemon", *arguments]
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    import mnemon.cli  # noqa: F401 (for the children)

    for line in requests:
        process = os.fork()
        if process == 0:
            _child(*json.loads(line))
        _, status = os.waitpid(process, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        answers.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
