"""The released jars: copied by Maven once, kept under ``var/kafka/<release>/`` for every later run."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from .java import major_version

RELEASE = "4.3.1"
"""The release that tests play on unless they name another; the pom next to this file pins the same."""

LEAST_JAVA = 17

HERE = Path(__file__).resolve().parent
HOME = HERE.parent.parent / "var" / "kafka" / RELEASE
JARS = HOME / "jars"
CLASSES = HOME / "classes"

MAVEN_LIMIT_S = 300
"""A cold download is about 54 MB and took 7 s; a slow line deserves patience, a hanging one does not."""


class BrokerUnavailableError(RuntimeError):
    """This machine cannot run the broker; the message says what is missing."""


def missing() -> str | None:
    """Says why no broker can be started here, or None when one can."""
    if shutil.which("java") is None:
        return f"no java on the path ({LEAST_JAVA} or newer)"
    if (found := major_version()) < LEAST_JAVA:
        return f"the java on the path is {found}; Kafka {RELEASE} needs {LEAST_JAVA} or newer"
    if not _complete() and shutil.which("mvn") is None:
        return (
            f"no jars of Kafka {RELEASE} in {JARS.relative_to(HERE.parent.parent)} and no mvn to fetch them"
        )
    return None


def released(release: str) -> str:
    """The class path of another release's jars, fetched where needed; only tools of developers ask for one."""
    home = HOME.parent / release
    jars = home / "jars"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (jars / f"kafka_2.13-{release}.jar").exists():
            if shutil.which("mvn") is None:
                raise BrokerUnavailableError(f"no jars of Kafka {release} in {jars} and no mvn to fetch them")
            fetch(release, jars)
    return f"{jars}/*"


def class_path(sources: Path = HERE / "clients", classes: Path = CLASSES) -> str:
    """The class path of the released jars and of our own small programs, fetched and compiled where needed."""
    reason = missing()
    if reason is not None:
        raise BrokerUnavailableError(reason)
    HOME.mkdir(parents=True, exist_ok=True)
    # Two test runs may start at once on a fresh clone: the second waits for the first one's jars.
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _complete():
            fetch(RELEASE, JARS)
        compile_sources(sources, classes, f"{JARS}/*")
    return f"{JARS}/*:{classes}"


def _complete() -> bool:
    return all(
        (JARS / f"{name}-{RELEASE}.jar").exists() for name in ("kafka_2.13", "kafka-tools", "kafka-streams")
    )


def fetch(release: str, jars: Path, pom: Path = HERE / "pom.xml") -> None:
    """Has Maven copy what the pom lists, of this release, into a folder."""
    arriving = jars.with_name("jars.arriving")
    shutil.rmtree(arriving, ignore_errors=True)
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    command += [f"-DoutputDirectory={arriving}", f"-Dkafka.version={release}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise BrokerUnavailableError(f"mvn did not fetch Kafka {release} within {MAVEN_LIMIT_S} s") from None
    if done.returncode != 0:
        raise BrokerUnavailableError(f"mvn could not fetch Kafka {release}: {_first_line(done.stdout)}")
    # A half-fetched folder never carries the final name.
    shutil.rmtree(jars, ignore_errors=True)
    arriving.rename(jars)


def compile_sources(folder: Path, classes: Path, class_path: str) -> None:
    """Compiles the programs once: launching a source file compiles it again in every process."""
    sources = sorted(folder.glob("*.java"))
    compiled = [classes / f"{source.stem}.class" for source in sources]
    if all(
        out.exists() and out.stat().st_mtime >= source.stat().st_mtime
        for source, out in zip(sources, compiled, strict=True)
    ):
        return
    classes.mkdir(exist_ok=True)
    # Debian's headless runtime holds the compiler's module without its command, so the module is called.
    command = ["java", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", str(classes)]
    listed = (
        sorted(Path(each).parent.glob("*.jar")) if each.endswith("/*") else [each]
        for each in class_path.split(":")
    )
    command += ["-cp", ":".join(str(each) for several in listed for each in several), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BrokerUnavailableError(
            f"{folder.name} does not compile: {_first_line(done.stderr + done.stdout)}"
        )


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "(it said nothing)")
