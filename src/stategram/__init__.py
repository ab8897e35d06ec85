"""Word classes, context states and language models from plain text.

>>> import stategram
>>> words = stategram.WordClasses(n_classes=3).fit(["the cat sat", "the dog sat", "a cat ran", "a dog ran"])
>>> words.predict(["cat"]) == words.predict(["dog"])
array([ True])

>>> model = stategram.NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
>>> model.predict("the", top=1)[0][0]
'dog'

Where to start: `WordClasses` finds word classes, `NgramModel.train` and `CategoryNgramModel.train` train
language models, `CacheModel.train` a cache to mix with them, `cluster` finds states and categories and
`ClusteredModel.train` estimates a model from them, `Mixture.fit` interpolates several, `train_recipe` does
all of that, `read_corpus` reads text files, `tokenize` makes words of raw text. `merge_ngrams` makes one
n-gram model of several, `prune_model` and `compact_model` a smaller one, `approximate` makes n-grams of any
model. `generate` draws sentences from a model, `surprisal` makes a table of the words of a text.

`read_classes` and `write_classes` are for class files, `read_arpa` and `write_arpa` for ARPA files,
`read_counts` and `write_counts` for count files, `write_fst` and `write_class_lm` for OpenFst and SRILM;
`open_model` opens a model file or an ARPA file, `model_info` describes one.
`evaluate` evaluates a model, and `compare` shows whether one of several is better. `from stategram import
kenlm` replaces the module of that name. `use_resources` limits threads and memory.

What is needed more rarely is in rooms: `stategram.recipes` has the parts of recipes, `stategram.evaluation`
figures of word classes and n-best rescoring, `stategram.selection` chooses text from a large pool,
`stategram.counts` and `stategram.contexts` count, `stategram.tables` reads and writes tables. Names and rooms
are loaded when they are first used, so importing stategram costs nothing.
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load a public name; their homes are in __init__.pyi, where type checkers find them too."""
    # Not at the top: the command line needs none of them to start, and Ctrl-C may come at any time.
    import lazy_loader

    loaders = ("__getattr__", "__dir__", "__all__")
    globals().update(zip(loaders, lazy_loader.attach_stub(__name__, __file__), strict=True))
    return globals()[name] if name in loaders else globals()["__getattr__"](name)


def __dir__() -> list[str]:
    names: list[str] = __getattr__("__all__").copy()  # type: ignore[attr-defined]
    return names
