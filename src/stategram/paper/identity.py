"""Which run a folder belongs to, and what is different in another one."""

from __future__ import annotations

from pathlib import Path

from stategram.errors import UsageError
from stategram.paper.rows import Sizes
from stategram.paper.texts import Texts
from stategram.storage import Store, content_key
from stategram.text import Corpus

_TEXTS = {"train": "the training text", "heldout": "the held-out text", "test": "the test text"}
_VOCABULARY, _READING = "the vocabulary", "how the texts are read"
_TAGS = "the tags"
_KEY = content_key("what a reproduction is of")

Identity = dict[str, str | None]
"""What makes a run what it is, by what it is called in messages."""


def identity_of(texts: Texts, sizes: Sizes, seed: int, tags: str | None) -> Identity:
    """Return what makes a run what it is."""
    corpora = {"train": texts.train, "heldout": texts.heldout, "test": texts.test}
    found: Identity = {}
    for use, name in _TEXTS.items():
        files = [one.sha256 for one in texts.inputs if one.use == use]
        found[name] = content_key(files) if files else _content(corpora[use])
    found[_VOCABULARY] = content_key(texts.train.vocabulary.to_bytes())
    found[_READING] = content_key([_content(corpus) for corpus in corpora.values()])
    found["the scale"] = str(sizes)
    found["the seed"] = str(seed)
    tag_files = [one.sha256 for one in texts.inputs if one.use == "tags"]
    found[_TAGS] = tags if not tag_files else f"{tags} ({content_key(tag_files)[:8]})"
    return found


def check_identity(store: Store, folder: Path, now: Identity) -> None:
    """Refuse a folder that belongs to another run; UsageError says what is different.

    Tags may come later: rows without tags are the same.
    """
    before: Identity | None = store.get_json("identity", _KEY)
    if before is not None:
        different = [name for name in now if before.get(name) != now[name]]
        # From other texts follow other words.
        if any(name in different for name in _TEXTS.values()):
            different = [name for name in different if name not in (_VOCABULARY, _READING)]
        elif _VOCABULARY in different:
            different = [name for name in different if name != _READING]
        if before.get(_TAGS) is None:
            different = [name for name in different if name != _TAGS]
        if different:
            verb = "differ" if different[1:] or different == [_TAGS] else "differs"
            raise UsageError(
                f"{folder} belongs to another reproduction: {_list(different, before, now)} {verb}; give the "
                "same, or choose another folder"
            )
    if before != now:
        store.put_json("identity", _KEY, now)


def _content(corpus: Corpus) -> str:
    return content_key(corpus.ids, corpus.sentence_starts, corpus.document_starts)


def _list(names: list[str], before: Identity, now: Identity) -> str:
    values = [
        f"{name} ({before.get(name) or 'none'} before, {now[name] or 'none'} now)"
        if name in ("the seed", "the scale", _TAGS)
        else name
        for name in names
    ]
    return ", ".join(values[:-1]) + (" and " if len(values) > 1 else "") + values[-1]
