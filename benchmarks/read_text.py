"""How fast text becomes ids and bigram counts, in MB of text a second of processor time.

python benchmarks/read_text.py TEXT... [--threads N] [--size N]
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from stategram._core import count_bigrams
from stategram.text import read_corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--size", type=int, default=None, help="words in the vocabulary")
    options = parser.parse_args()
    megabytes = sum(Path(name).stat().st_size for name in options.text) / 1e6

    def report(step: str, wall: float, cpu: float) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{step:<18} {wall:6.2f} s wall {cpu:6.2f} s cpu "
            f"{megabytes / cpu:5.0f} MB/s/core  peak {peak:.0f} MiB"
        )

    wall, cpu = time.perf_counter(), time.process_time()
    corpus = read_corpus(options.text, vocabulary_size=options.size, threads=options.threads)
    wall_read, cpu_read = time.perf_counter(), time.process_time()
    report("read and encode", wall_read - wall, cpu_read - cpu)
    count_bigrams(corpus.ids, 2, len(corpus.vocabulary), options.threads)
    report("with bigrams", time.perf_counter() - wall, time.process_time() - cpu)
    print(corpus)


if __name__ == "__main__":
    main()
