"""Word classes, context states and language models from plain text.

>>> import stategram
>>> words = stategram.WordClasses(n_classes=3).fit(["the cat sat", "the dog sat", "a cat ran", "a dog ran"])
>>> words.predict(["cat"]) == words.predict(["dog"])
array([ True])

>>> model = stategram.NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
>>> model.predict("the", top=1)[0][0]
'dog'

Where to start: `WordClasses` finds word classes, `NgramModel.train` and `CategoryNgramModel.train` train
language models, `ClusteredModel.train` makes one of a `Clustering` of the contexts that `build_tree` gives,
`Mixture.fit` makes one of several, `train_recipe` does all of that, `read_corpus` reads text files.
`read_classes` and `write_classes` are for class files, `read_arpa` and `write_arpa` for ARPA files;
`open_model` opens a model folder or an ARPA file. `class_bigram_perplexity` says what classes are worth,
`evaluate` what a model is worth. `from stategram import kenlm` stands in for the module of that name.

Everything public is here and nowhere else. Names are loaded when they are first used, so that importing
stategram costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stategram.clustering import (
        Checkpoint,
        ClassHierarchy,
        Clustering,
        ClusteringSettings,
        LevelResult,
        SweepRecord,
        WordClasses,
        build_hierarchy,
        cluster,
    )
    from stategram.contexts import (
        ContextDefinition,
        ContextTree,
        ContextValue,
        TagCounts,
        TagMap,
        build_tree,
        tags_from_brill,
        tags_from_conllu,
        tags_from_file,
    )
    from stategram.counts import BigramCounts, CompressedCounts, NgramCounts, count_bigrams, count_ngrams
    from stategram.errors import BadDataError, StategramError, UsageError
    from stategram.evaluation import (
        ClassBigramFigures,
        OrderFigures,
        PartFigures,
        PerplexityFigures,
        average_mutual_information,
        class_bigram_perplexity,
        evaluate,
    )
    from stategram.experiments import (
        RECIPES,
        CategoryNgramPart,
        ClusteredPart,
        MixturePart,
        NgramPart,
        Recipe,
        read_recipe,
        train_recipe,
    )
    from stategram.experiments.reproduction import Reproduction, RowResult, reproduce
    from stategram.formats import open_model, read_arpa, read_classes, write_arpa, write_classes
    from stategram.models import (
        CategoryNgramModel,
        ClusteredModel,
        Mixture,
        Model,
        NgramModel,
        Scores,
        State,
        load_model,
    )
    from stategram.resources import Resources, use_resources
    from stategram.text import Corpus, ReadStats, Vocabulary, corpus_from_sentences, read_corpus

__version__ = "0.1.0"

_HOMES = {
    "stategram.clustering": (
        "Checkpoint",
        "ClassHierarchy",
        "Clustering",
        "ClusteringSettings",
        "LevelResult",
        "SweepRecord",
        "WordClasses",
        "build_hierarchy",
        "cluster",
    ),
    "stategram.contexts": (
        "ContextDefinition",
        "ContextTree",
        "ContextValue",
        "TagMap",
        "TagCounts",
        "build_tree",
        "tags_from_brill",
        "tags_from_conllu",
        "tags_from_file",
    ),
    "stategram.counts": ("BigramCounts", "CompressedCounts", "NgramCounts", "count_bigrams", "count_ngrams"),
    "stategram.errors": ("BadDataError", "StategramError", "UsageError"),
    "stategram.evaluation": (
        "ClassBigramFigures",
        "OrderFigures",
        "PartFigures",
        "PerplexityFigures",
        "average_mutual_information",
        "class_bigram_perplexity",
        "evaluate",
    ),
    "stategram.experiments": (
        "RECIPES",
        "CategoryNgramPart",
        "ClusteredPart",
        "MixturePart",
        "NgramPart",
        "Recipe",
        "read_recipe",
        "train_recipe",
    ),
    "stategram.experiments.reproduction": ("Reproduction", "RowResult", "reproduce"),
    "stategram.formats": ("open_model", "read_arpa", "read_classes", "write_arpa", "write_classes"),
    "stategram.models": (
        "CategoryNgramModel",
        "ClusteredModel",
        "Mixture",
        "Model",
        "NgramModel",
        "Scores",
        "State",
        "load_model",
    ),
    "stategram.resources": ("Resources", "use_resources"),
    "stategram.text": ("Corpus", "ReadStats", "Vocabulary", "corpus_from_sentences", "read_corpus"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "RECIPES",
    "BadDataError",
    "BigramCounts",
    "CategoryNgramModel",
    "CategoryNgramPart",
    "Checkpoint",
    "ClassBigramFigures",
    "ClassHierarchy",
    "ClusteredModel",
    "ClusteredPart",
    "Clustering",
    "ClusteringSettings",
    "CompressedCounts",
    "ContextDefinition",
    "ContextTree",
    "ContextValue",
    "Corpus",
    "LevelResult",
    "Mixture",
    "MixturePart",
    "Model",
    "NgramCounts",
    "NgramModel",
    "NgramPart",
    "OrderFigures",
    "PartFigures",
    "PerplexityFigures",
    "ReadStats",
    "Recipe",
    "Reproduction",
    "Resources",
    "RowResult",
    "Scores",
    "State",
    "StategramError",
    "SweepRecord",
    "TagCounts",
    "TagMap",
    "UsageError",
    "Vocabulary",
    "WordClasses",
    "average_mutual_information",
    "build_hierarchy",
    "build_tree",
    "class_bigram_perplexity",
    "cluster",
    "corpus_from_sentences",
    "count_bigrams",
    "count_ngrams",
    "evaluate",
    "load_model",
    "open_model",
    "read_arpa",
    "read_classes",
    "read_corpus",
    "read_recipe",
    "reproduce",
    "tags_from_brill",
    "tags_from_conllu",
    "tags_from_file",
    "train_recipe",
    "use_resources",
    "write_arpa",
    "write_classes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'stategram' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
