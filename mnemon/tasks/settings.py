"""Checks of a task's settings: each raises an error of one line that says what to write instead."""

from mnemon.errors import UserError


def check_at_least(task: str, least: int, **settings: int) -> None:
    """Each setting, given by its name, is ``least`` or more."""
    for name, value in settings.items():
        if value < least:
            raise UserError(f"{task}({name}={value}): write {name}={least} or more")


def check_range(task: str, least: int, **ends: int) -> None:
    """The two ends of a range, given by their names, are ``least`` or more and in order."""
    check_at_least(task, least, **ends)
    (low_name, low), (high_name, high) = ends.items()
    if low > high:
        raise UserError(
            f"{task}({low_name}={low}, {high_name}={high}): write {high_name}={low} or more, "
            f"or {low_name}={high} or less"
        )
