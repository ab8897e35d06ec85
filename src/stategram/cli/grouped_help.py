"""A --help with its options in groups."""

from __future__ import annotations

from typing import Any

import click


class GroupedCommand(click.Command):
    """A command with many options: each group has a title; those without a group come first."""

    def __init__(self, *arguments: Any, groups: dict[str, tuple[str, ...]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group, in the order of the command."""
        titles = {name: title for title, names in self.groups.items() for name in names}
        records: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Options", *self.groups)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                records[titles.get(parameter.name or "", "Options")].append(record)
        for title, rows in records.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
