"""Gives each request that fits the document an idempotency key of its own: with one key for all, the second request would
only be refused as another request with the same key."""

from itertools import count

import schemathesis

NUMBERS = count(1)
HEADER = "Idempotency-Key"


@schemathesis.hook
def before_call(context, case, kwargs):
    # What is wrong with the others on purpose must stay wrong.
    fits = case.meta is not None and not case.meta.generation.mode.is_negative
    if fits and HEADER in (case.headers or {}):
        case.headers[HEADER] = f"request-{next(NUMBERS)}"
