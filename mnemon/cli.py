"""The command line: ``mnemon demo``, ``list``, ``train``, ``run``, ``sweep``, ``report``, ``view``, ``profile``, …

Bad input gives one line on standard error that says what to write instead, and exit code 2.
"""

import contextlib
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, NoReturn

import tyro

from mnemon.commands.bench import Bench
from mnemon.commands.chat import Chat
from mnemon.commands.demo import Demo
from mnemon.commands.ehr import Ehr
from mnemon.commands.export import Export
from mnemon.commands.listing import List
from mnemon.commands.profile import Profile
from mnemon.commands.report import Report
from mnemon.commands.run import Run
from mnemon.commands.sweep import Sweep
from mnemon.commands.train import Train
from mnemon.commands.version import installed
from mnemon.commands.view import ViewRun
from mnemon.errors import UserError

Command = (
    Annotated[Demo, tyro.conf.subcommand("demo")]
    | Annotated[List, tyro.conf.subcommand("list")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Run, tyro.conf.subcommand("run")]
    | Annotated[Sweep, tyro.conf.subcommand("sweep")]
    | Annotated[Report, tyro.conf.subcommand("report")]
    | Annotated[ViewRun, tyro.conf.subcommand("view")]
    | Annotated[Profile, tyro.conf.subcommand("profile")]
    | Annotated[Chat, tyro.conf.subcommand("chat")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
    | Annotated[Ehr, tyro.conf.subcommand("ehr")]
)


AnyCommand = Demo | List | Train | Run | Sweep | Report | ViewRun | Profile | Chat | Export | Bench | Ehr


def main() -> None:
    """Run the command given on the command line. Where nobody reads on, as ``head`` does not, it just ends."""
    try:
        _run()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still to be flushed
        sys.exit(1)  # as rich does


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        print(installed())
        return
    command = parse(sys.argv[1:])
    from mnemon.training.interrupt import Interrupted

    warnings.formatwarning = lambda message, *_: f"mnemon: {message}\n"
    try:
        command.run()
    except UserError as error:
        _fail(str(error), 2)
    except Interrupted as stopped:
        _fail(str(stopped), 130)


def parse(arguments: Sequence[str]) -> AnyCommand:
    """The command that was written, ready to be run. tyro's boxed complaints are folded into one line."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            command: AnyCommand = tyro.cli(
                Command,
                args=arguments,
                prog="mnemon",
                config=(tyro.conf.OmitSubcommandPrefixes,),
                description="Memory-augmented neural networks: train them, and see what they do. "
                "mnemon --version tells what is installed.",
            )
    except SystemExit as ended:
        if ended.code == 2:
            _fail(_one_line(said.getvalue()), 2)
        raise
    return command


def _one_line(box: str) -> str:
    """The text of a box of several lines: its sections one after the other."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", box)
    rows = [row.strip("│ ") for row in plain.splitlines() if not row.startswith(("╭", "╰"))]
    sections = " ".join(rows).split("─")
    return "; ".join(" ".join(section.split()) for section in sections if section.strip())


def _fail(message: str, code: int) -> NoReturn:
    print(f"mnemon: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
