"""What decoders wait for: the calls of KenLM's Python module, by it and by ours; mixtures."""

from __future__ import annotations

from importlib.util import find_spec
from statistics import median

from benchmarks.measure import BenchmarkError, show, step
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts, with_vocabulary


def measure_decoding(texts: Texts, settings: Settings) -> list[Table]:
    if texts.test is None:
        raise BenchmarkError("decoding is measured on a test text; give one with --test")
    text = with_vocabulary(texts, settings.vocabulary)
    tables = []
    if find_spec("kenlm"):
        rows: list[Row] = []
        for order in settings.orders:
            show(f"decoding: order {order}, beside kenlm")
            found = step("decode_ngrams", text, texts.test, order, settings.repeats)
            for call, seconds in found["seconds"].items():
                rounds = list(zip(seconds["stategram"], seconds["kenlm"], strict=True))
                rows.append(
                    {
                        "call": call,
                        "order": order,
                        **{
                            f"{name}, million words/CPU s": _speed(found["events"], of_side) / 1e6
                            for name, of_side in seconds.items()
                        },
                        "speed ratio": median(theirs / max(ours, 1e-9) for ours, theirs in rounds),
                    }
                )
        tables.append(
            Table(
                "The calls of decoders",
                rows,
                {"kenlm, million words/CPU s": 2, "stategram, million words/CPU s": 2, "speed ratio": 2},
                [
                    "Loops in Python over the sentences of the test text, or over their words; both sides "
                    f"take turns, medians of {settings.repeats}. kenlm: PyPI's module with the ARPA file of "
                    "the same model, which it holds in memory as a probing model. Ratio: ours is so many "
                    "times as fast."
                ],
            )
        )
    show("decoding: a mixture of eight models")
    found = step("decode_mixture", text, texts.test, settings.repeats)
    mixtures: list[Row] = [
        {
            "weights by": gate,
            "parts": found["parts"],
            "bulk, million words/CPU s": _speed(found["events"], seconds["bulk"]) / 1e6,
            "µs per BaseScore": 1e6 / _speed(found["events"], seconds["BaseScore"]),
        }
        for gate, seconds in found["seconds"].items()
    ]
    digits = {"bulk, million words/CPU s": 2, "µs per BaseScore": 2}
    notes = [
        "A word 5-gram and a 3-gram, category 5-grams of 200, 500, 1000 and 2000 classes, two clustered "
        "models. Weights are tuned on the test text, which changes no time. One thread."
    ]
    return [*tables, Table("A mixture", mixtures, digits, notes)]


def _speed(events: int, seconds: list[float]) -> float:
    return events / max(median(seconds), 1e-9)
