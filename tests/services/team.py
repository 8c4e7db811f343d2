"""``make team``: a team's processes on this machine, started by the commands and files of "Run it for a team"."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from groups.places import ROOT
from tests.broker import jars
from tests.broker.node import running
from tests.broker.rpc import RpcError
from tests.demo.groups import living
from tests.proxied import nginx
from tests.reaper import reap_after
from tests.services.servers import Absent, free_port, postgresql, redis_server, temporary_folder

PAGE = ROOT / "docs" / "how-to" / "run-for-a-team.md"
SOCKETS = "/run/rebalance-explorer"
CLUSTER = "prod-eu"
"""The cluster that the page's commands watch."""

ADMIN = "admin"
SERVERS = 2
START_S = 300.0
"""A cold start compiles every module and records the case studies."""


@dataclass(slots=True)
class Processes:
    """Commands of the product that run at once, each with a log of its own in ``folder``."""

    folder: Path
    environment: Mapping[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def start(self, name: str, *words: str) -> None:
        with self.log(name).open("ab") as out:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "manage.py", *words], cwd=ROOT, env=self.environment, stdout=out, stderr=out
            )

    def wait_for(self, name: str, words: str) -> None:
        """Wait until the log of a process has ``words``; RuntimeError with the log's end if the process ends or takes too long."""
        until_s = time.monotonic() + START_S
        while words not in (written := self.log(name).read_text()):
            if self.processes[name].poll() is not None or time.monotonic() > until_s:
                raise RuntimeError(f"{name} did not start:\n{written[-2000:]}")
            time.sleep(0.1)

    def end(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()
            process.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    url: str
    name: str
    password: str


def page_block(page: Path = PAGE) -> tuple[dict[str, str], list[list[str]]]:
    """The page's first block of commands: the settings that it exports, and the words of each command after the program's name."""
    block = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)[0]
    lines = [shlex.split(line, comments=True) for line in str(block).splitlines() if line]
    exported = dict(words[1].split("=", 1) for words in lines if words[0] == "export")
    return exported, [words[1:] for words in lines if words[0] == "rebalance-explorer"]


@contextlib.contextmanager
def team(folder: Path, *, port: int = 0, clusters: Mapping[str, Path] | None = None) -> Iterator[Address]:
    """The processes of a team, from PostgreSQL to nginx, with an account of an admin; ``clusters`` names their properties files."""
    exported, commands = page_block()
    run = folder / "run"
    run.mkdir()
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgresql(folder))
        own = {
            "DATABASE_URL": database.url,
            "REDIS_URL": stack.enter_context(redis_server(folder)),
            "ALLOWED_HOSTS": "localhost",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "CLUSTERS_KEY": secrets.token_urlsafe(50),
        }
        environment = os.environ | exported | own | {"REBALANCE_VAR": str(folder / "var")}
        for name, properties in (clusters or {}).items():
            environment[f"REBALANCE_CLUSTER_{name.upper().replace('-', '_')}"] = str(properties)
        processes = Processes(folder, environment)
        stack.callback(processes.end)
        for words in commands:
            started_by(processes, [word.replace(SOCKETS, str(run)) for word in words], clusters or {})
        for name in list(processes.processes):
            processes.wait_for(
                name, "plays at" if name.startswith("serve") else "Working on" if name != "watch" else ""
            )
        password = secrets.token_urlsafe(12)
        subprocess.run(
            [sys.executable, "manage.py", "createsuperuser", "--noinput", "--username", ADMIN, "--email", "admin@example.org"],
            cwd=ROOT, env=environment | {"DJANGO_SUPERUSER_PASSWORD": password}, check=True, capture_output=True,
        )  # fmt: skip
        servers = "".join(f"server unix:{place};" for place in sorted(run.glob("*.sock")))
        places = {
            f"http://unix:{SOCKETS}/web.sock;": "http://servers;",
            "map $http_upgrade": f"upstream servers {{ {servers} }}\nmap $http_upgrade",
            # With LOGIN nobody signs in twice, as the page has it.
            'auth_basic            "Rebalance Explorer";': "",
            "auth_basic_user_file  /etc/nginx/rebalance.users;": "",
        }
        bound = stack.enter_context(nginx(PAGE, folder, "rebalance.internal", places, port=port))
        yield Address(url=f"https://localhost:{bound}", name=ADMIN, password=password)


def started_by(processes: Processes, words: list[str], clusters: Mapping[str, Path]) -> None:
    """Starts what one command of the page starts: a server as often as the page allows, a watcher where its cluster is there."""
    kind = words[0]
    if kind == "serve":
        for number in range(SERVERS):
            own = [word.replace("web.sock", f"web-{number}.sock") for word in words]
            processes.start(f"serve-{number}", *own)
    elif kind == "worker":
        processes.start(f"worker-{words[words.index('--queues') + 1]}", *words)
    elif kind == "watch" and words[-1] in clusters:
        processes.start(kind, *words)


def cluster_of(stack: contextlib.ExitStack, folder: Path) -> dict[str, Path]:
    """A broker with consumers that rebalance, as the page's cluster; none, with a line that says why, where none can be started."""
    try:
        jars.class_path()
        node = stack.enter_context(running(folder / "broker"))
    except (jars.BrokerUnavailableError, RpcError) as problem:
        say(f"Without a cluster to watch: {problem}")
        return {}
    stack.enter_context(living(node))
    properties = folder / "cluster.properties"
    properties.write_text(f"bootstrap.servers={node.bootstrap}\n")
    return {CLUSTER: properties}


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make team", description=__doc__)
    parser.add_argument("--port", type=int, default=8443, help="nginx listens there; 0 takes a free one")
    parser.add_argument("--no-cluster", action="store_true", help="no broker, and nothing to watch")
    options = parser.parse_args()
    for program, package in (("nginx", "nginx"), ("openssl", "openssl")):
        if not (shutil.which(program) or shutil.which(program, path="/usr/sbin")):
            say(f"{program} is not installed (Debian: apt-get install {package})")
            return 2
    # Ctrl-C and SIGTERM end all of it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(temporary_folder())
            clusters = {} if options.no_cluster else cluster_of(stack, folder)
            say("Starting PostgreSQL, Redis, two servers, two workers and nginx …")
            started = stack.enter_context(team(folder, port=options.port or free_port(), clusters=clusters))
            say(f"Open {started.url} and sign in as {started.name} with the password {started.password}")
            say(f"The certificate was made just now, so a browser warns of it. Logs: {folder}. Ctrl-C ends all of it, and nothing is kept.")  # fmt: skip
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except (Absent, RuntimeError, AssertionError) as problem:
        say(str(problem))
        return 2
    return 0


if __name__ == "__main__":
    reap_after()
    sys.exit(main())
