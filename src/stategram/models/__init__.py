"""Models of p(w | history), all with the same methods."""

from stategram.models.alignment import require_same_format
from stategram.models.approximation.approximate import approximate
from stategram.models.budget import NO_LIMIT, Budget
from stategram.models.cache import CacheModel, check_decays
from stategram.models.category_ngram import CategoryNgramModel
from stategram.models.clustered import ClusteredModel
from stategram.models.clusters import ModelClasses, ModelStates, word_categories
from stategram.models.distributions import distribution_rows
from stategram.models.gate import GATE_KINDS, Gate
from stategram.models.mixture import Mixture, score_parts
from stategram.models.mixture_fitting import fit_weights, interpolate
from stategram.models.model import (
    HISTORIES,
    Model,
    open_sentence,
    require_model,
    state_after,
    warn_of_unknown,
)
from stategram.models.model_files import load_model, model_of, model_size
from stategram.models.ngrams.compacting import compact_model, compacted_size
from stategram.models.ngrams.estimate import SMOOTHINGS, check_min_counts, default_min_counts
from stategram.models.ngrams.frequent import frequent_ngrams, word_frequencies
from stategram.models.ngrams.merging import check_weights, merge_ngrams
from stategram.models.ngrams.model import NgramModel, damage_error
from stategram.models.ngrams.packed import NgramTrie
from stategram.models.ngrams.plain import PlainTrie
from stategram.models.ngrams.pruning import close_suffixes, drop_ngrams, prune_model, size_within
from stategram.models.sampling import GeneratedSentence, generate, random_history
from stategram.models.scores import Scores, State, Step
from stategram.models.unknown_words import UNKNOWN_CHOICES, SpellingModel, UnknownWords
from stategram.models.word_tree import (
    Cache,
    Chain,
    Value,
    ValueSources,
    WordTree,
    WordTreeModel,
    build_word_tree,
)

__all__ = [
    "GATE_KINDS",
    "HISTORIES",
    "NO_LIMIT",
    "SMOOTHINGS",
    "UNKNOWN_CHOICES",
    "Budget",
    "Cache",
    "CacheModel",
    "CategoryNgramModel",
    "Chain",
    "ClusteredModel",
    "Gate",
    "GeneratedSentence",
    "Mixture",
    "Model",
    "ModelClasses",
    "ModelStates",
    "NgramModel",
    "NgramTrie",
    "PlainTrie",
    "Scores",
    "SpellingModel",
    "State",
    "Step",
    "UnknownWords",
    "Value",
    "ValueSources",
    "WordTree",
    "WordTreeModel",
    "approximate",
    "build_word_tree",
    "check_decays",
    "check_min_counts",
    "check_weights",
    "close_suffixes",
    "compact_model",
    "compacted_size",
    "damage_error",
    "default_min_counts",
    "distribution_rows",
    "drop_ngrams",
    "fit_weights",
    "frequent_ngrams",
    "generate",
    "interpolate",
    "load_model",
    "merge_ngrams",
    "model_of",
    "model_size",
    "open_sentence",
    "prune_model",
    "random_history",
    "require_model",
    "require_same_format",
    "score_parts",
    "size_within",
    "state_after",
    "warn_of_unknown",
    "word_categories",
    "word_frequencies",
]
