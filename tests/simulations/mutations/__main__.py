"""``python -m tests.simulations.mutations [--record] [NAME…]``: hunts every mutation from seed 0 on, and prints a table."""

from __future__ import annotations

import sys

from tests.simulations.mutations.hunting import all_hunted, hunted, record, recorded
from tests.simulations.mutations.patches import MUTATIONS


def main(arguments: list[str]) -> int:
    names = [word for word in arguments if word != "--record"]
    chosen = [mutation for mutation in MUTATIONS if not names or mutation.name in names]
    say("| mutation | file | what is wrong | seed | semantics | invariant |\n|---|---|---|---|---|---|")
    found, missed = {}, []
    for each, by in zip(chosen, all_hunted(hunted, chosen), strict=True):
        told = f"{by['seed']} | {by['semantics']} | {by['invariant']}" if by else "not found | |"
        say(f"| {each.name} | {each.file} | {each.breaks} | {told} |")
        if by:
            found[each.name] = by
        else:
            missed.append(each.name)
    say(f"\n{len(found)} of {len(chosen)} found" + (f"; not {', '.join(missed)}" if missed else ""))
    if "--record" in arguments:
        record({**(recorded() if names else {}), **found})
    return 1 if missed else 0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
