"""Errors that a user can mend: the message is one line that says what to write instead."""


class UserError(ValueError):
    """Raised for bad input; the command line prints its message as one line and exits with 2."""
