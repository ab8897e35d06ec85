"""Every kind of model, also read, rounded, pruned, mixed and remembering: all of `checks.py`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from _pytest.mark.structures import ParameterSet

from checks import Check, Subject, yield_checks
from model_kinds import CONTRACT, SAME_FILES, model_of

DAMAGE = {
    "a_flipped_bit_is_refused_with_the_name",
    "missing_arrays_are_refused",
    "arrays_that_do_not_fit_are_refused",
    "numbers_that_are_none_are_found",
}
EXCEPTIONS = {
    (kind, "states_are_values"): "a cache of all words can be neither compared nor pickled"
    for kind in ("adaptive", "vectors adaptive")
}
NAMES = {check.__name__.removeprefix("check_"): check for check in yield_checks()}


def _cases() -> Iterator[ParameterSet]:
    for kind, name in itertools.product(CONTRACT, NAMES):
        if kind in SAME_FILES and name in DAMAGE:
            continue
        reason = EXCEPTIONS.get((kind, name))
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        yield pytest.param(kind, NAMES[name], id=f"{kind}-{name}", marks=marks)


@pytest.fixture(scope="session")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Subject]:
    return cache(lambda kind: Subject(model_of(kind), tmp_path_factory.mktemp("subject")))


@pytest.mark.parametrize(("kind", "check"), list(_cases()))
def test_contract(kind: str, check: Check, subject: Callable[[str], Subject]) -> None:
    check(subject(kind))
