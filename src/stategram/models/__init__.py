"""Models that give p(w | history), all with one protocol."""

from stategram.counts import trie_numbers
from stategram.models.category_ngram import CategoryNgramModel
from stategram.models.clustered import ClusteredModel
from stategram.models.gate import GATE_KINDS, Gate
from stategram.models.interpolation import fit_weights, interpolate
from stategram.models.loading import load_model
from stategram.models.mixture import Mixture
from stategram.models.naming import model_name, part_names
from stategram.models.ngram import EventScores, NgramModel
from stategram.models.packing import Packed
from stategram.models.protocol import Model
from stategram.models.sentence_scores import damage_error
from stategram.models.smoothing import SMOOTHINGS, check_min_counts, usual_min_counts
from stategram.models.trie import NgramTrie

__all__ = [
    "GATE_KINDS",
    "SMOOTHINGS",
    "CategoryNgramModel",
    "ClusteredModel",
    "EventScores",
    "Gate",
    "Mixture",
    "Model",
    "NgramModel",
    "NgramTrie",
    "Packed",
    "check_min_counts",
    "damage_error",
    "fit_weights",
    "interpolate",
    "load_model",
    "model_name",
    "part_names",
    "trie_numbers",
    "usual_min_counts",
]
