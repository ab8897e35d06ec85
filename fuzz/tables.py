"""Tables as texts, items and pools: whole, damaged, of other types, and small ones that unpack to much."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import csv, ipc, parquet

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.mutation import damage_bytes
from stategram import NgramModel, corpus_from_sentences, read_corpus, surprisal
from stategram.errors import StategramError
from stategram.selection import select

_WORDS = ("the", "cat", "sat", "on", "a", "mat", "\u00e9t\u00e9", '"quoted"', "1,5", "a;b")
_KINDS = ("parquet", "arrow", "feather", "jsonl", "csv", "tsv", "jsonl.gz", "parquet", "arrow")
_VALUES: tuple[Any, ...] = (1, 2.5, True, b"\xff\xfe", ["the", "cat"], {"a": 1}, None, "\0", "\ufeff", "")


class Tables(Campaign):
    """Each try writes a table, whole or not, and reads it in three ways."""

    name = "tables"
    promise = "a table is read as the texts in it, or refused; memory follows its size"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.model = NgramModel.train([list(_WORDS)] * 3, order=2)

    def attempt(self, number: int) -> None:
        """Make a table, and read it."""
        chance = self.random(number)
        kind, what = chance.choice(_KINDS), chance.choice(("whole", "damaged", "damaged", "typed", "bomb"))
        texts = [
            " ".join(chance.choices(_WORDS, k=chance.randrange(1, 9))) for _ in range(chance.randrange(1, 60))
        ]
        table = pyarrow.table({"id": list(range(len(texts))), "text": texts})
        if what == "typed":
            values = [chance.choice(_VALUES)] * len(texts)
            table = pyarrow.table(
                {chance.choice(("id", "x")): texts, chance.choice(("text", "Text")): values}
            )
        if what == "bomb":
            long = pyarrow.array([" ".join(texts) * chance.choice((1, 100, 1000))])
            rows = pyarrow.array([0] * chance.choice((10, 1000)), pyarrow.int32())
            table = pyarrow.table({"text": pyarrow.DictionaryArray.from_arrays(rows, long)})
            table = table.slice(0, max(1, 20_000_000 // len(long[0].as_py())))
        data = _written(table, kind, chance)
        path = self.place / f"table.{kind}"
        path.write_bytes(damage_bytes(data, chance) if what == "damaged" else data)
        ways = ("train", "score", "select")[: 3 if kind.startswith(("parquet", "jsonl")) else 2]
        found = [self._tried(path, way) for way in ways]
        expected = [corpus_from_sentences(texts).ids.tolist(), len(texts), len(texts)]
        if what == "whole" and found != expected[: len(ways)]:
            raise BrokenPromiseError(f"{kind}: other texts, {found!r:.300}")

    def _tried(self, path: Path, way: str) -> Any:
        """Return what is read; None if it is refused."""
        try:
            if way == "train":
                return read_corpus(path).ids.tolist()
            if way == "score":
                return len(
                    set(surprisal(self.model, path, columns=["sentence", "word"])["sentence"].tolist())
                )
            return select(path, self.model, self.model, output=io.BytesIO(), threshold=1e9).kept_rows
        except StategramError as error:
            if error.exit_code not in (2, 3) or not str(error).strip():
                raise BrokenPromiseError(f"{way}: exit code {error.exit_code}, {error}") from error
            return None


def _written(table: Any, kind: str, chance: random.Random) -> bytes:
    sink = io.BytesIO()
    if kind == "parquet":
        how: Any = {"use_dictionary": chance.random() < 0.5}
        if chance.random() < 0.3 and [str(kind) for kind in table.schema.types] == ["int64", "string"]:
            how = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY", "id": "PLAIN"}}
        parquet.write_table(table, sink, compression=chance.choice(("zstd", "snappy", "none")), **how)
    elif kind in ("arrow", "feather"):
        new = ipc.new_stream if kind == "arrow" else ipc.new_file
        options = ipc.IpcWriteOptions(compression=chance.choice((None, "lz4", "zstd")))
        with new(sink, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=chance.choice((5, 1000)))
    elif kind in ("csv", "tsv"):
        cells = {name: [str(cell) for cell in table[name].to_pylist()] for name in table.column_names}
        delimiter = "," if kind == "csv" else "\t"
        csv.write_csv(pyarrow.table(cells), sink, csv.WriteOptions(delimiter=delimiter))
    else:
        rows = "".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()).encode()
        return gzip.compress(rows) if kind.endswith("gz") else rows
    return sink.getvalue()
