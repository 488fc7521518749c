"""A worker process as the campaign sees it: where it stands, whether it has ended, and why."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading

from mnemon.runner.messages import Assignment, Standing, parse_standing


class WorkerProcess:
    """Started at once, in a session of its own: Ctrl-C in a terminal reaches the campaign only, which passes it on.

    Far from the campaign there is no lock to inherit.
    """

    def __init__(self, lock: int | None = None, threads: int = 1) -> None:
        self.standing = Standing()
        self._asked_to_stop = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mnemon.runner.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            pass_fds=() if lock is None else (lock,),
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def give(self, assignment: Assignment) -> None:
        """Let it work; call it before anything else, and again when it has finished."""
        self.standing = Standing()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended already, and last_words() says why
            self._process.stdin.write(assignment.to_line())
            self._process.stdin.flush()  # and left open: its end tells the worker that the campaign is gone

    @property
    def finished(self) -> bool:
        """Whether it has done what it was given, and waits for more."""
        return self.standing.finished

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def ask_to_stop(self) -> None:
        """Let it save and end; asking twice would end it at once."""
        if not self._asked_to_stop:
            self._asked_to_stop = True
            self._process.send_signal(signal.SIGTERM)

    def stop(self, patience: float) -> None:
        """Let it save and end, and end it where that takes more seconds."""
        self.ask_to_stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Give back what the process held; call it when it has ended."""
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def last_words(self) -> str:
        """The last line on its standard error, or what ended it."""
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        code = self._process.poll()
        if code is not None and code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return lines[-1] if lines else f"ended with exit code {code} and no message"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.standing = parse_standing(line)
