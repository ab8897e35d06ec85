"""The tree of words: the classes by their hierarchy, the words of each class by Huffman's algorithm."""

from __future__ import annotations

from collections.abc import Sequence

Tree = int | tuple["Tree", "Tree"]
MAX_DEPTH = 32


def word_tree_paths(
    counts: Sequence[int], labels: Sequence[int], merges: Sequence[tuple[int, int]], begin: int, end: int
) -> list[str]:
    """Return the path to each word, "" for `begin`; the root decides between `end` and all others.

    A class is a number below the number of classes; a merger of two classes or mergers has the next number.
    Words without a class, -1, are with those of class 0.
    """
    members: list[list[tuple[int, int]]] = [[] for _ in range(len(merges) + 1)]
    for word, (count, label) in enumerate(zip(counts, labels, strict=True)):
        if word not in (begin, end):
            members[max(label, 0)].append((count, word))
    nodes = [huffman(words) for words in members]
    for first, second in merges:
        nodes.append(join(nodes[first], nodes[second]))
    paths = [""] * len(counts)
    root = join(nodes[-1], end)
    assert root is not None
    assign(root, "", paths)
    return paths


def join(left: Tree | None, right: Tree | None) -> Tree | None:
    """Classes without words are not in the tree."""
    if left is None or right is None:
        return right if left is None else left
    return left, right


def huffman(words: Sequence[tuple[int, int]]) -> Tree | None:
    """Join the two rarest until one is left; of equally frequent ones those that were there first."""
    waiting: list[tuple[int, int, Tree]] = [(count, i, word) for i, (count, word) in enumerate(words)]
    number = len(waiting)
    while len(waiting) > 1:
        waiting.sort(key=lambda one: one[:2])
        first, second, *waiting = waiting
        waiting.append((first[0] + second[0], number, (first[2], second[2])))
        number += 1
    return waiting[0][2] if waiting else None


def leaves(tree: Tree) -> list[int]:
    return [tree] if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])


def assign(tree: Tree, path: str, paths: list[str]) -> None:
    """Give each word its path; where it would be longer than 32, the words of the node are divided evenly."""
    if isinstance(tree, int):
        paths[tree] = path
    elif all(len(leaves(side)) <= 2 ** (MAX_DEPTH - len(path) - 1) for side in tree):
        assign(tree[0], path + "0", paths)
        assign(tree[1], path + "1", paths)
    else:
        assign_evenly(leaves(tree), path, paths)


def assign_evenly(words: list[int], path: str, paths: list[str]) -> None:
    if len(words) == 1:
        paths[words[0]] = path
        return
    assign_evenly(words[: len(words) // 2], path + "0", paths)
    assign_evenly(words[len(words) // 2 :], path + "1", paths)
