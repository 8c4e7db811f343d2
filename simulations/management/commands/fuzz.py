"""``manage.py fuzz --seeds A-B``: random scenarios, checked as they run, and shrunk where they break an invariant."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError, CommandParser

from groups.command_line import TerminalCommand, in_one_line, usage
from groups.releases import NEWEST
from simulations.management.commands.simulate import release_asked, release_option

if TYPE_CHECKING:
    from groups.history.entries import Entry
    from groups.releases import Release
    from simulations.proof.fuzzing.batches import Answer, Found

SEED_MAX: Final = 2**53
"""The greatest whole number that every reader of JSON keeps."""

SHRUNK_MOST: Final = 5
"""Failures that are shrunk, the first of each invariant first: the others are most likely the same mistake."""

INTERRUPTED: Final = 130
"""A shell's exit status for a command that was ended by Ctrl-C."""

JOB: Final = "simulations.spark.fuzzing"


class Command(TerminalCommand):
    help = "Run random scenarios and report those that break an invariant, shrunk; JSON on standard output."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("--seeds", metavar="A-B", required=True, help="first and last seed, or one alone")
        parser.add_argument("--semantics", metavar="kip|kafka|both", default="both", help="default: both")
        release_option(parser, default=str(NEWEST))
        parser.add_argument(
            "--master",
            "--spark",
            dest="spark",
            metavar="URL",
            help="run on Spark with this master, such as local[*]",
        )
        parser.add_argument(
            "--out", metavar="FOLDER", help="write each failing scenario, shrunk, and its entries"
        )
        parser.add_argument(
            "--presets", metavar="P,P", help="calm, stormy, hostile, rolling; default: the first three"
        )
        parser.add_argument(
            "--protocols",
            metavar="P,P",
            default="consumer",
            help="consumer, classic, mixed: of which the drawn groups are; default: consumer",
        )
        parser.add_argument("--coverage", action="store_true", help="count what the runs reached, too")

    def handle(self, *_args: Any, **options: Any) -> None:
        # Only here: what the simulator needs is not to slow down every other command.
        from simulations.proof.fuzzing.batches import Answer, kinds_of

        self.first, self.last = seeds_of(options["seeds"])
        self.semantics = semantics_of(options["semantics"])
        self.presets = presets_of(options["presets"])
        self.protocols = protocols_of(options["protocols"], self.semantics)
        self.covered = options["coverage"]
        self.release = self.release_of(options["release"])
        folder = folder_of(options["out"])
        wanted = (self.last - self.first + 1) * len(kinds_of(self.protocols, self.semantics))
        begun_s, shown_s, interrupted = time.monotonic(), 0.0, False
        total = Answer()
        try:
            for answer in self.on_spark(options["spark"]) if options["spark"] else self.here():
                total.add(answer)
                for found in answer.found:
                    text = f"Seed {found.seed} in {called(found)} breaks {found.broken.invariant}"
                    self.stderr.write(f"{text}: {found.broken.sentence}")
                if time.monotonic() - shown_s >= 1 or total.runs == wanted:
                    shown_s = time.monotonic()
                    self.stderr.write(progress(total, wanted, shown_s - begun_s))
        except KeyboardInterrupt:
            interrupted = True
        for reason, runs in sorted(total.unknown.items()):
            self.stderr.write(f"Not judged in {runs:,} of {total.runs:,} runs: {reason}")
        self.report(total, folder, time.monotonic() - begun_s, shrinks=not interrupted)
        if interrupted:
            text = f"Interrupted: {total.runs:,} of {wanted:,} runs are done, {len(total.found)} broke an invariant."
            raise CommandError(text, returncode=INTERRUPTED)
        if total.found:
            raise CommandError(f"{len(total.found)} of {total.runs:,} runs broke an invariant.")

    def release_of(self, named: str | None) -> Release:
        """One that serves the consumer protocol: the others are drawn in addition where brokers are rolled."""
        release = release_asked(named, self.semantics) or NEWEST
        if not release.rules.consumer_protocol:
            raise usage(f"--release {release}: --presets rolling draws brokers without the consumer protocol")
        return release

    def here(self) -> Iterator[Answer]:
        """In this process, on one core."""
        from simulations.proof.fuzzing.batches import answer, blocks

        for first, last in blocks(self.first, self.last):
            yield answer(
                first,
                last,
                self.semantics,
                self.presets,
                self.protocols,
                covered=self.covered,
                release=self.release,
            )

    def on_spark(self, master: str) -> Iterator[Answer]:
        from collections import Counter

        from groups.jobs.children import ChildFailed, run_child
        from groups.spark_ready import how_to_install, missing_packages
        from simulations.proof.fuzzing.batches import Answer, Found
        from simulations.proof.fuzzing.verdict import Broken

        if missing := missing_packages():
            raise usage(how_to_install(missing))
        question = {
            "first": self.first,
            "last": self.last,
            "semantics": self.semantics,
            "presets": self.presets,
            "protocols": self.protocols,
            "release": self.release,
            "covered": self.covered,
            "master": master,
        }
        try:
            for message in run_child(JOB, question=question):
                match message["type"]:
                    case "stage":
                        self.stderr.write(message["stage"])
                    case "error":
                        raise usage(message["message"])
                    case "answer":
                        found = [
                            Found(
                                seed=each["seed"],
                                semantics=each["semantics"],
                                groups=each["protocols"],
                                broken=Broken(
                                    invariant=each["invariant"],
                                    sentence=each["says"],
                                    sequence=each["sequence"],
                                ),
                            )
                            for each in message["found"]
                        ]
                        counts = {name: Counter(count) for name, count in message["counts"].items()}
                        unknown = Counter(message["unknown"])
                        yield Answer(runs=message["runs"], found=found, unknown=unknown, counts=counts)
        except ChildFailed as error:
            raise usage(str(error)) from None

    def report(self, total: Answer, folder: Path | None, seconds: float, *, shrinks: bool) -> None:
        """The one line of JSON, and the files."""
        import orjson

        from simulations.proof.fuzzing.batches import kinds_of

        total.found.sort(key=lambda found: (found.seed, called(found)))
        smallest = self.shrunk(total.found, folder) if shrinks else {}
        violations = [
            {
                "seed": found.seed,
                "semantics": found.semantics,
                "protocols": found.groups,
                "invariant": found.broken.invariant,
                "sequence": found.broken.sequence,
                "says": found.broken.sentence,
                "scenario": smallest.get((found.seed, called(found))),
            }
            for found in total.found
        ]
        known: dict[str, Any] = {
            "seeds": f"{self.first}-{self.last}",
            "runs": total.runs,
            "violations": violations,
            "unknown": dict(sorted(total.unknown.items())),
            "seconds": round(seconds, 1),
        }
        if self.covered:
            known["coverage"] = {name: dict(sorted(counts.items())) for name, counts in total.counts.items()}
        self.stdout.write(orjson.dumps(known).decode())
        if folder is not None and self.first == self.last and not total.found:
            for kind, rules in kinds_of(self.protocols, self.semantics):
                write_run(folder, self.first, rules, self.presets, groups=kind, release=self.release)

    def shrunk(self, found: Sequence[Found], folder: Path | None) -> dict[tuple[int, str], str]:
        """The scenarios of the failures that are worth looking at first, as YAML."""
        from simulations.proof.fuzzing.generator import document_of
        from simulations.proof.fuzzing.shrinking import as_yaml, shrunk

        first_of: dict[tuple[str, str], Found] = {}
        for each in found:
            first_of.setdefault((each.broken.invariant, called(each)), each)
        chosen = [*first_of.values(), *(each for each in found if each not in first_of.values())]
        texts: dict[tuple[int, str], str] = {}
        for each in chosen[:SHRUNK_MOST]:
            self.stderr.write(f"Shrinking seed {each.seed} in {called(each)}: {each.broken.sentence}")
            document = document_of(each.seed, each.semantics, self.presets, each.groups, self.release)
            small = as_yaml(shrunk(document, each.semantics, each.broken))
            texts[each.seed, called(each)] = small
            if folder is not None:
                write_run(
                    folder,
                    each.seed,
                    each.semantics,
                    self.presets,
                    small,
                    groups=each.groups,
                    release=self.release,
                )
        return texts


def called(found: Found) -> str:
    """``kafka``, ``kip``, ``classic``, ``mixed`` or ``mixed-kip``."""
    from simulations.proof.fuzzing.batches import name_of

    return name_of(found.groups, found.semantics)


def write_run(
    folder: Path,
    seed: int,
    semantics: str,
    presets: Sequence[str],
    small: str | None = None,
    *,
    groups: str,
    release: Release,
) -> None:
    """``NAME-SEED.yaml``, ``NAME-SEED.shrunk.yaml`` where it was shrunk, and the entries of the smaller one."""
    import orjson

    from simulations import output
    from simulations.proof.fuzzing.batches import name_of
    from simulations.proof.fuzzing.generator import document_of
    from simulations.proof.fuzzing.shrinking import as_yaml
    from simulations.world.engine import run
    from simulations.world.scenario import load

    name = f"{name_of(groups, semantics)}-{seed}"
    whole = as_yaml(document_of(seed, semantics, presets, groups, release))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.yaml").write_text(whole, encoding="utf-8")
        if small is not None:
            (folder / f"{name}.shrunk.yaml").write_text(small, encoding="utf-8")
        scenario = load(small or whole, name)
        with (folder / f"{name}.entries.jsonl").open("wb") as file:
            for row in output.entry_lines(_until_it_crashes(run(scenario)), "entry"):
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise usage(f"cannot write to {folder}: {error.strerror}") from None


def _until_it_crashes(entries: Iterator[Entry]) -> Iterator[Entry]:
    """The entries of a run, of one that ends in an error of the simulator those before it: the report contains the error."""
    try:
        yield from entries
    except Exception:  # As in the verdict: whatever the machines raise is what was found.
        return


def progress(total: Answer, wanted: int, seconds: float) -> str:
    left_s = (wanted - total.runs) * seconds / max(total.runs, 1)
    broke = f", {len(total.found)} broke an invariant" if total.found else ""
    left = f", {left_s:,.0f} s left" if total.runs < wanted else ""
    return f"{total.runs:,} of {wanted:,} runs{broke}; {total.runs / max(seconds, 0.001):,.0f} a second{left}"


def seeds_of(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if match is None:
        raise usage(f"--seeds {text}: expected the first and the last one, such as 0-999, or one alone")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first or last > SEED_MAX:
        raise usage(f"--seeds {text}: the first is at most the last, and that at most {SEED_MAX}")
    return first, last


def semantics_of(text: str) -> list[str]:
    if text == "both":
        return ["kafka", "kip"]
    if text not in ("kafka", "kip"):
        raise usage(f"--semantics {text}: there are kip, kafka, both")
    return [text]


def presets_of(text: str | None) -> list[str]:
    from simulations.proof.fuzzing.presets import EVERY_PRESET, PRESETS

    if text is None:
        return [str(preset) for preset in PRESETS]
    for name in text.split(","):
        if name not in EVERY_PRESET:
            raise usage(f"--presets {text}: there are {', '.join(EVERY_PRESET)}, with commas between them")
    return text.split(",")


def protocols_of(text: str, semantics: Sequence[str]) -> list[str]:
    from simulations.proof.fuzzing.batches import kinds_of
    from simulations.proof.fuzzing.groups import GROUPS

    names = text.split(",")
    for name in names:
        if name not in tuple(GROUPS):
            raise usage(f"--protocols {text}: there are {', '.join(GROUPS)}, with commas between them")
        if not kinds_of([name], semantics):
            raise usage(f"--protocols {name}: such groups run in kafka, not in {', '.join(semantics)}")
    return list(dict.fromkeys(names))


def folder_of(text: str | None) -> Path | None:
    if text is None:
        return None
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise usage(f"--out {text}: this is a file, and a folder is needed")
    return folder
