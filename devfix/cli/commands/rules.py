"""``devfix rules``."""

from __future__ import annotations

import click

from devfix.cli._options import trust_option

__all__ = ["command"]


@click.command("rules", short_help="List all rules.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--isolated", is_flag=True, help="Ignore configuration files, and with them local rules.")
@trust_option
def command(style: str, isolated: bool, trust_plugins: bool) -> None:
    """List all rules with their codes, names and summaries."""
    from devfix.cli._rule_names import import_configured_rules
    from devfix.rules.registry import all_rules

    if not isolated:
        import_configured_rules(trust_plugins)
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
    code_width = max((len(rule.code) for rule in rules), default=0)
    name_width = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        opt_in = "" if rule.default else f" Enabled only by --select {rule.code}."
        click.echo(f"{rule.code:<{code_width}}  {rule.name:<{name_width}}  {rule.summary}{opt_in}")
