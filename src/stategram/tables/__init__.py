"""Tables: named columns, written as tsv, csv, jsonl or parquet, and handed to pandas, polars and Arrow."""

from stategram.tables.table import Table
from stategram.tables.text_column import TextColumn
from stategram.tables.writing import TABLE_FORMATS, TableWriter, table_format

__all__ = [
    "TABLE_FORMATS",
    "Table",
    "TableWriter",
    "TextColumn",
    "table_format",
]
