"""The public names of stategram: `__init__.py` loads each from its home when it is first used."""

from .clustering import (
    Checkpoint as Checkpoint,
    ClassHierarchy as ClassHierarchy,
    Clustering as Clustering,
    ClusteringSettings as ClusteringSettings,
    LevelResult as LevelResult,
    SweepRecord as SweepRecord,
    WordClasses as WordClasses,
    build_hierarchy as build_hierarchy,
    cluster as cluster,
)
from .contexts import (
    ContextDefinition as ContextDefinition,
    ContextTree as ContextTree,
    ContextValue as ContextValue,
    TagCounts as TagCounts,
    TagMap as TagMap,
    build_tree as build_tree,
    tags_from_brill as tags_from_brill,
    tags_from_conllu as tags_from_conllu,
    tags_from_file as tags_from_file,
)
from .counts import (
    BigramCounts as BigramCounts,
    CompressedCounts as CompressedCounts,
    CountedText as CountedText,
    NgramCounts as NgramCounts,
    ShardedText as ShardedText,
    count_bigrams as count_bigrams,
    count_ngrams as count_ngrams,
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
    ClassBigramFigures as ClassBigramFigures,
    ComparedModel as ComparedModel,
    Comparison as Comparison,
    Difference as Difference,
    HistoryFigures as HistoryFigures,
    Interval as Interval,
    NBestLists as NBestLists,
    OrderFigures as OrderFigures,
    PartFigures as PartFigures,
    PerplexityFigures as PerplexityFigures,
    Resampling as Resampling,
    Rescored as Rescored,
    WordErrors as WordErrors,
    average_mutual_information as average_mutual_information,
    class_bigram_perplexity as class_bigram_perplexity,
    compare as compare,
    evaluate as evaluate,
    rescore as rescore,
)
from .formats import (
    ModelInfo as ModelInfo,
    model_info as model_info,
    open_model as open_model,
    read_arpa as read_arpa,
    read_classes as read_classes,
    read_counts as read_counts,
    read_nbest as read_nbest,
    read_references as read_references,
    write_arpa as write_arpa,
    write_class_lm as write_class_lm,
    write_classes as write_classes,
    write_fst as write_fst,
    write_best as write_best,
    write_counts as write_counts,
    write_nbest as write_nbest,
)
from .models import (
    CacheModel as CacheModel,
    CategoryNgramModel as CategoryNgramModel,
    ClusteredModel as ClusteredModel,
    GeneratedSentence as GeneratedSentence,
    Mixture as Mixture,
    Model as Model,
    NgramModel as NgramModel,
    Scores as Scores,
    State as State,
    WordTree as WordTree,
    WordTreeModel as WordTreeModel,
    approximate as approximate,
    generate as generate,
    merge_ngrams as merge_ngrams,
    Budget as Budget,
    prune_model as prune_model,
    compact_model as compact_model,
)
from .paper import (
    Reproduction as Reproduction,
    RowResult as RowResult,
    reproduce as reproduce,
)
from .recipes import (
    RECIPES as RECIPES,
    CachePart as CachePart,
    CategoryNgramPart as CategoryNgramPart,
    ClusteredPart as ClusteredPart,
    MixturePart as MixturePart,
    NgramPart as NgramPart,
    Recipe as Recipe,
    WordTreePart as WordTreePart,
    read_recipe as read_recipe,
    train_recipe as train_recipe,
)
from .resources import (
    Resources as Resources,
    use_resources as use_resources,
)
from .scoring import (
    surprisal as surprisal,
)
from .selection import (
    Selection as Selection,
    cross_entropy_difference as cross_entropy_difference,
    select as select,
)
from .tables import (
    Items as Items,
    Table as Table,
    TableWriter as TableWriter,
    TextColumn as TextColumn,
    read_items as read_items,
)
from .text import (
    Corpus as Corpus,
    ReadStats as ReadStats,
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
