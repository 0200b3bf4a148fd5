"""``devfix rules``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("rules", short_help="List all rules.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(style: str) -> None:
    """List all rules: code, name, and what each one looks for."""
    from codemods import all_rules

    rules = all_rules()
    if style == "json":
        import json

        rows = [
            {"code": rule.code, "name": rule.name, "summary": rule.summary, "default": rule.default} for rule in rules
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    widest = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        opt_in = "" if rule.default else f" Only with --select {rule.code}."
        click.echo(f"{rule.code}  {rule.name:<{widest}}  {rule.summary}{opt_in}")
