"""Client-side assignors from Python files: named on the command line or in the server's settings, and nowhere else.

A file is run with all the rights of the user who runs the program. So none is ever taken from a page, a request, a link, a
scenario or an assignment spec: those can only name an assignor that was loaded already.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable, Iterable
from inspect import isabstract
from pathlib import Path
from typing import Final

from simulations.protocol.assignors.client_side import CLIENT_ASSIGNORS, ClientAssignor

CLASS: Final = "Assignor"


class AssignorFileError(ValueError):
    """The file holds no assignor that can be used; the message contains what is wrong with it, and where."""


def client_assignors(files: Iterable[str | Path]) -> dict[str, Callable[[], ClientAssignor]]:
    """All client-side assignors by name: the classic ones, and one of each file."""
    known: dict[str, Callable[[], ClientAssignor]] = {**CLIENT_ASSIGNORS}
    for file in files:
        make = load(Path(file))
        if make.name in known:
            raise AssignorFileError(f"{file}: there is an assignor {make.name} already; give it another name")
        known[make.name] = make
    return known


def load(file: Path) -> type[ClientAssignor]:
    """Runs a file and gives its class ``Assignor``."""
    if not file.is_file():
        raise AssignorFileError(f"{file}: there is no such file")
    spec = importlib.util.spec_from_file_location(f"assignor_file_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise AssignorFileError(f"{file}: not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise AssignorFileError(f"{file}{_line_of(error, file)}: {type(error).__name__}: {error}") from error
    made = getattr(module, CLASS, None)
    if not (isinstance(made, type) and issubclass(made, ClientAssignor)):
        raise AssignorFileError(f"{file}: no class {CLASS} that is a ClientAssignor")
    if isabstract(made):
        raise AssignorFileError(f"{file}: {CLASS} has no assign")
    name = getattr(made, "name", None)
    if not isinstance(name, str) or not name:
        raise AssignorFileError(f"{file}: {CLASS}.name must be a text that is not empty")
    return made


def _line_of(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f" line {error.lineno}"
    lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == str(file)]
    return f" line {lines[-1]}" if lines else ""
