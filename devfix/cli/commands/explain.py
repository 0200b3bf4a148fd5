"""``devfix explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from devfix.cli._color import is_for_people
from devfix.cli._options import trust_option
from devfix.cli._rule_docs import RuleDocs, complete_rules, rule_docs

if TYPE_CHECKING:
    from devfix.rules.rule import Rule

__all__ = ["command"]


@click.command("explain", short_help="Explain one rule, with an example.")
@click.argument("code", shell_complete=complete_rules)
@click.option("--format", "style", type=click.Choice(["text", "md", "json"]), default="text", show_default=True)
@trust_option
def command(code: str, style: str, trust_plugins: bool) -> None:
    """Explain one rule, given its code (DEV201) or name: what it checks, why, an example, and the safety of its fix."""
    docs = rule_docs(code) if style != "json" else None
    if docs is not None:
        _show(docs, style)
        return
    from devfix.cli._rule_names import import_configured_rules
    from devfix.rules.registry import rule_for

    rule = rule_for(code)
    if rule is None:
        import_configured_rules(trust_plugins)
        rule = rule_for(code)
    if rule is None:
        raise click.UsageError(_unknown(code))
    if style == "json":
        click.echo(_json(rule), nl=False)
    else:
        _show(rule, style)


def _show(rule: Rule | RuleDocs, style: str) -> None:
    """Print the documentation: as Markdown, rendered on a terminal, or as plain text."""
    if style == "text" and is_for_people():
        from rich.console import Console
        from rich.markdown import Markdown
        from rich.theme import Theme

        readable = Theme({"markdown.code": "bold cyan"})  # rich's own has a black background, also on white terminals
        Console(highlight=False, theme=readable).print(Markdown(_markdown(rule), code_theme="ansi_dark"))
    else:
        click.echo(_text(rule) if style == "text" else _markdown(rule), nl=False)


def _text(rule: Rule | RuleDocs) -> str:
    """Return the documentation as plain text: headings in capitals, code indented."""
    from devfix.report.rules import plain_text

    return f"{rule.code} {rule.name}: {rule.summary}\n\n{plain_text(rule.documentation)}"


def _markdown(rule: Rule | RuleDocs) -> str:
    return f"# {rule.code} {rule.name}\n\n{rule.documentation.strip()}\n"


def _json(rule: Rule) -> str:
    import json

    document = {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "documentation": rule.documentation.strip(),
        "invalid": [
            {"title": example.title, "before": example.before, "after": example.after} for example in rule.invalid
        ],
        "valid": list(rule.valid),
    }
    return json.dumps(document, indent=2) + "\n"


def _unknown(code: str) -> str:
    import difflib

    from devfix.rules.registry import all_rules

    words = [word for rule in all_rules() for word in (rule.code, rule.name)]
    close = difflib.get_close_matches(code.upper(), words, n=1) or difflib.get_close_matches(code.lower(), words, n=1)
    return f"unknown rule {code!r}; " + (f"did you mean {close[0]!r}?" if close else "see: devfix rules")
