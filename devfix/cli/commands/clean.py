"""``devfix clean``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("clean", short_help="Delete cached results.")
@click.option("--all", "everything", is_flag=True, help="Also delete the mirrors and worktrees of devfix migrate.")
@click.option("--dry-run", is_flag=True, help="Print what would be deleted.")
def command(everything: bool, dry_run: bool) -> None:
    """Delete the results of earlier runs from the cache folder (DEVFIX_CACHE_DIR, or the user's cache folder).

    They are computed again when they are needed. Mirrors of repositories are kept, because fetching them again takes
    long.
    """
    from devfix.cli._cleaning import clean

    click.get_current_context().exit(clean(everything=everything, dry_run=dry_run))
