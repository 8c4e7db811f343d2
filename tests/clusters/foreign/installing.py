"""Foreign clients, fetched from their registries into a folder outside of the environment of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLIENTS: Final = Path(__file__).parent / "clients"
PYTHON_PACKAGES: Final = ("aiokafka==0.14.0", "confluent-kafka==2.16.1")
NODE_PACKAGES: Final = ("kafkajs@2.2.4",)
GO_MODULES: Final = (
    "github.com/twmb/franz-go@v1.22.3",
    "github.com/IBM/sarama@v1.61.1",
    "github.com/twmb/franz-go/pkg/kfake@v0.0.0-20260918054303-01f206a7e32c",
)

LIBRARIES: Final = ("rdkafka", "rdkafka-next", "franz", "franz-next", "sarama", "kafkajs", "aiokafka")
"""``-next`` is the consumer protocol (KIP-848); all others are classic members."""


class MissingToolError(RuntimeError):
    """A command that is needed to fetch or build the clients is not installed."""


@dataclass(frozen=True, slots=True)
class Clients:
    """Where the clients were built."""

    folder: Path

    def command(self, library: str, bootstrap: str, group: str, topic: str, client: str) -> list[str]:
        """The command of one member, which joins at once and leaves cleanly at SIGTERM."""
        words = [bootstrap, group, topic, client]
        if library == "kafkajs":
            return ["node", str(self.folder / "node" / "kafkajs_member.cjs"), *words]
        if library in ("franz", "franz-next", "sarama"):
            return [str(self.folder / "go" / "member"), library, *words]
        return [
            str(self.folder / "python" / "bin" / "python"),
            str(CLIENTS / "python_member.py"),
            library,
            *words,
        ]

    def fake_broker(self, port: int, topic: str) -> list[str]:
        """The command of kfake, the broker of franz-go's own tests; it prints a line once it answers."""
        return [str(self.folder / "go" / "member"), "kfake", str(port), topic]


def installed(folder: Path, report: Callable[[str], object]) -> Clients:
    """The clients, fetched and built where the folder does not have them."""
    for name in ("go", "npm", "node"):
        if shutil.which(name) is None:
            raise MissingToolError(
                f"{name} is not on the path; Go and Node build and run some of the clients"
            )
    for name, build in (("python", _python), ("node", _node), ("go", _go)):
        done = folder / f"{name}.installed"
        if not done.exists():
            report(f"Fetching the {name} clients into {folder} …")
            build(folder / name)
            done.touch()
    shutil.copy(CLIENTS / "kafkajs_member.cjs", folder / "node")
    return Clients(folder)


def _python(folder: Path) -> None:
    _run(folder, sys.executable, "-m", "venv", ".")
    _run(folder, str(folder / "bin" / "pip"), "install", "--quiet", *PYTHON_PACKAGES)


def _node(folder: Path) -> None:
    _run(folder, "npm", "install", "--silent", "--no-save", *NODE_PACKAGES)


def _go(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(CLIENTS / "member.go", folder)
    if not (folder / "go.mod").exists():
        _run(folder, "go", "mod", "init", "member")
    _run(folder, "go", "get", *GO_MODULES)
    _run(folder, "go", "mod", "tidy")
    _run(folder, "go", "build", "-o", "member", ".")


def _run(folder: Path, *command: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise MissingToolError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
