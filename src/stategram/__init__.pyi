"""The names at the top of stategram, and its public rooms: `__init__.py` loads each when it is first used."""

from . import (
    clustering as clustering,
    contexts as contexts,
    counts as counts,
    evaluation as evaluation,
    formats as formats,
    kenlm as kenlm,
    models as models,
    paper as paper,
    recipes as recipes,
    resources as resources,
    selection as selection,
    tables as tables,
    text as text,
)
from .clustering import (
    ClassHierarchy as ClassHierarchy,
    Clustering as Clustering,
    WordClasses as WordClasses,
    cluster as cluster,
)
from .contexts import (
    tags_from_brill as tags_from_brill,
    tags_from_conllu as tags_from_conllu,
    tags_from_file as tags_from_file,
)
from .counts import (
    count_text as count_text,
    open_counts as open_counts,
)
from .errors import (
    BadDataError as BadDataError,
    StategramError as StategramError,
    UnknownWordsWarning as UnknownWordsWarning,
    UsageError as UsageError,
)
from .evaluation import (
    Comparison as Comparison,
    Interval as Interval,
    PerplexityFigures as PerplexityFigures,
    compare as compare,
    evaluate as evaluate,
)
from .formats import (
    model_info as model_info,
    open_model as open_model,
    read_arpa as read_arpa,
    read_classes as read_classes,
    read_counts as read_counts,
    write_arpa as write_arpa,
    write_class_lm as write_class_lm,
    write_classes as write_classes,
    write_fst as write_fst,
    write_counts as write_counts,
)
from .models import (
    CacheModel as CacheModel,
    CategoryNgramModel as CategoryNgramModel,
    ClusteredModel as ClusteredModel,
    Mixture as Mixture,
    Model as Model,
    NgramModel as NgramModel,
    Scores as Scores,
    State as State,
    WordTreeModel as WordTreeModel,
    approximate as approximate,
    generate as generate,
    merge_ngrams as merge_ngrams,
    Budget as Budget,
    prune_model as prune_model,
    compact_model as compact_model,
)
from .paper import (
    reproduce as reproduce,
)
from .recipes import (
    Recipe as Recipe,
    read_recipe as read_recipe,
    train_recipe as train_recipe,
)
from .resources import (
    use_resources as use_resources,
)
from .scoring import (
    surprisal as surprisal,
)
from .tables import (
    Table as Table,
)
from .text import (
    Corpus as Corpus,
    TextFormat as TextFormat,
    Vocabulary as Vocabulary,
    corpus_from_sentences as corpus_from_sentences,
    read_corpus as read_corpus,
    tokenize as tokenize,
    tokenize_prose as tokenize_prose,
)
from .workers import (
    open_cluster as open_cluster,
)

__version__: str
__all__: list[str]
