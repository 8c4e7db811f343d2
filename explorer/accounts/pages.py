"""What pages know of their reader's rights, so that nobody is offered what is refused afterwards."""

from __future__ import annotations

import orjson
from django.http import HttpRequest

from explorer.accounts.permissions import Action
from explorer.accounts.roles import rights_in
from explorer.accounts.targets import OTHERS, target_of


def refused_actions(request: HttpRequest) -> dict[str, str]:
    """A context processor: why the reader may not do what, as JSON by action; nothing of it in local mode.

    A key is an action on what the page is about, or ``others:`` and an action on what others have made.
    """
    rights = rights_in(request)
    if rights is None:
        return {}
    match = request.resolver_match
    here = target_of(match.kwargs) if match else None
    found = {
        f"{before}{action}": why
        for before, target in (("", here), ("others:", OTHERS))
        for action in Action
        if (why := rights.refused(action, target))
    }
    return {"refused_actions": orjson.dumps(found).decode()} if found else {}
