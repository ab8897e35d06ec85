"""An acceptor in OpenFst's text format, walked word by word as its description says."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Acceptor:
    """Arcs by state and input label: the next state and the weight; weights of final states."""

    start: int
    arcs: dict[tuple[int, int], tuple[int, float]]
    final: dict[int, float]

    @classmethod
    def read(cls, text: str) -> Acceptor:
        lines = [line.split("\t") for line in text.splitlines()]
        arcs: dict[tuple[int, int], tuple[int, float]] = {}
        final: dict[int, float] = {}
        for line in lines:
            if len(line) == 2:
                final[int(line[0])] = float(line[1])
            else:
                state, after, label = map(int, line[:3])
                assert (state, label) not in arcs
                arcs[state, label] = after, float(line[4])
        return cls(int(lines[0][0]), arcs, final)

    def exact(self, labels: list[int], backoff: int) -> float:
        """The weight of a sentence if back-off arcs are taken where nothing else fits, and only there."""
        state, total = self.start, 0.0
        for label in [*labels, None]:
            while True:
                if label is None and state in self.final:
                    return total + self.final[state]
                key = (
                    (state, label) if label is not None and (state, label) in self.arcs else (state, backoff)
                )
                if key not in self.arcs:
                    return inf
                state, weight = self.arcs[key]
                total += weight
                if key[1] == label:
                    break
        raise AssertionError

    def shortest(self, labels: list[int], backoff: int) -> float:
        """The smallest weight of all paths of a sentence if back-off arcs can be taken anywhere."""
        costs = {self.start: 0.0}
        for label in [*labels, None]:
            waiting = list(costs)
            while waiting:
                state = waiting.pop()
                after, weight = self.arcs.get((state, backoff), (state, inf))
                if costs[state] + weight < costs.get(after, inf):
                    costs[after] = costs[state] + weight
                    waiting.append(after)
            if label is None:
                return min(cost + self.final.get(state, inf) for state, cost in costs.items())
            moved: dict[int, float] = {}
            for state, cost in costs.items():
                after, weight = self.arcs.get((state, label), (state, inf))
                moved[after] = min(moved.get(after, inf), cost + weight)
            costs = moved
        raise AssertionError
