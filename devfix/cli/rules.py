"""``devfix rules``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("rules", short_help="List all rules.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--isolated", is_flag=True, help="Read no configuration, and so no rules of the repository.")
def command(style: str, isolated: bool) -> None:
    """List all rules: code, name, and what each one looks for."""
    from devfix.cli._rule_names import with_those_of_here
    from devfix.rules.registry import all_rules

    if not isolated:
        with_those_of_here()
    rules = all_rules()
    if style == "json":
        import json

        rows = [
            {
                "code": rule.code,
                "name": rule.name,
                "summary": rule.summary,
                "default": rule.default,
                "origin": rule.origin or None,
            }
            for rule in rules
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    coded = max((len(rule.code) for rule in rules), default=0)
    widest = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        opt_in = "" if rule.default else f" Only with --select {rule.code}."
        click.echo(f"{rule.code:<{coded}}  {rule.name:<{widest}}  {rule.summary}{opt_in}")
