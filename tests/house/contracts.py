"""A contract for import-linter: pure rooms import pure rooms, and of everything else only what is named.

The linter's own ``forbidden`` contract names what may not be imported, so what nobody thought of is allowed; and it either
follows indirect imports, into rooms whose affair they are, or looks at none. This one names what may be imported. As
every room that is reached is pure itself, nothing indirect is left to look at.
"""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

OURS = ("explorer", "groups", "simulations")


def _is_within(module: str, rooms: set[str]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


class PureContract(Contract):  # type: ignore[misc]
    """``pure_rooms`` without ``but_not``; ``may_import`` are top-level names of the standard library and of packages."""

    type_name = "pure"

    pure_rooms = fields.SetField(subfield=fields.StringField())
    but_not = fields.SetField(subfield=fields.StringField(), required=False)
    may_import = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        pure, exempt, allowed = set(self.pure_rooms), set(self.but_not or ()), set(self.may_import)
        absent = sorted(room for room in pure | exempt if room not in graph.modules)
        broken = [f"{room} is named in the contract, and is no room" for room in absent]
        for module in sorted(graph.modules):
            if not _is_within(module, pure) or _is_within(module, exempt):
                continue
            for imported in sorted(graph.find_modules_directly_imported_by(module)):
                top = imported.split(".")[0]
                ours = top in OURS
                if ours and _is_within(imported, pure) and not _is_within(imported, exempt):
                    continue
                if ours or top not in allowed:
                    broken.append(f"{module} imports {imported}")
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["broken"]:
            output.print_error(line)
