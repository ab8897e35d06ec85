"""Tables: named columns, written as tsv, csv, jsonl or parquet, and handed to pandas, polars and Arrow.

Items to be scored are read from such tables.
"""

from stategram.tables.items import Items, read_items
from stategram.tables.reading import Rows, read_rows, word_table
from stategram.tables.table import Table, TextColumn
from stategram.tables.writing import (
    TABLE_FORMATS,
    TableWriter,
    choose_format,
    table_format,
)

__all__ = [
    "TABLE_FORMATS",
    "Items",
    "Rows",
    "Table",
    "TableWriter",
    "TextColumn",
    "choose_format",
    "read_items",
    "read_rows",
    "table_format",
    "word_table",
]
