"""Numbers sites, once all functions are walked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from memsim.sources.capture.frontend.declarations import Key
from memsim.sources.capture.frontend.flow import Draft
from memsim.sources.capture.frontend.probing import Context
from memsim.sources.capture.sites import LAST_SITE, Role, Site
from memsim.support.errors import InputError


def number(context: Context, first: int, shown: Mapping[str, str]) -> list[Site]:
    """Give every site its number, callers before what they call, and make the table.

    A call's arguments are evaluated inside its mark, so that order lets a lane that still evaluates them come before
    one that is in the function already.

    Args:
        context: of the walks.
        first: the first number.
        shown: how tables name a file.

    Raises:
        InputError: there are more sites than numbers.
    """
    accessing = _accessing(context)
    drafts = [draft for key in _callers_first(context) for draft in context.drafts[key] if _counts(draft, accessing)]
    if first + len(drafts) - 1 > LAST_SITE:
        raise InputError(next(iter(context.files)), "code", f"has more than {LAST_SITE} accesses; capture less at once")
    for index, draft in enumerate(drafts):
        draft.id = first + index
    return [_site(context, draft, shown) for draft in drafts]


def _site(context: Context, draft: Draft, shown: Mapping[str, str]) -> Site:
    written = context.files[draft.file].written_as(draft.start, draft.end)
    return Site(
        id=draft.id,
        role=draft.role,
        kind=draft.kind,
        file=shown.get(draft.file) or Path(draft.file).name,
        line=written.line,
        column=written.column,
        text=written.text if draft.role is not Role.latch else "",
        waits_for=_ids(context, draft.waits_for),
        address_from=_ids(context, draft.address, decisions=False),
        data_from=_ids(context, draft.data_from),
        gap=draft.gap,
        unroll=draft.unroll,
    )


def _ids(context: Context, dependencies: set, decisions: bool = True) -> tuple[int, ...]:
    return tuple(sorted(draft.id for draft in context.facts.sites(dependencies, decisions)))


def _counts(draft: Draft, accessing: set[Key]) -> bool:
    """Whether a site is kept: a call of a function that accesses nothing need not be marked."""
    return draft.callees is None or draft.role is not Role.call or any(one in accessing for one in draft.callees)


def _accessing(context: Context) -> set[Key]:
    """Functions that access memory, or call one that does, or call what is unknown."""
    found = {
        key
        for key, drafts in context.drafts.items()
        if any(draft.role is Role.access or draft.callees is None for draft in drafts)
    }
    while more := {key for key, called in context.calls.items() if called & found} - found:
        found |= more
    return found


def _callers_first(context: Context) -> list[Key]:
    """All functions, each before those it calls, as far as there is no recursion."""
    done: set[Key] = set()

    def called_first(key: Key) -> Iterator[Key]:
        if key in done or key not in context.drafts:
            return
        done.add(key)
        for callee in sorted(context.calls.get(key, ())):
            yield from called_first(callee)
        yield key

    return [key for start in list(context.drafts) for key in called_first(start)][::-1]
