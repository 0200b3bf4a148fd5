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


@click.command("explain", short_help="Explain a rule or an error message, with an example.")
@click.argument("code", metavar="RULE|MESSAGE", shell_complete=complete_rules)
@click.option("--format", "style", type=click.Choice(["text", "md", "json"]), default="text", show_default=True)
@trust_option
def command(code: str, style: str, trust_plugins: bool) -> None:
    """Explain one rule, given its code (DEV201) or name: what it checks, why, an example, and the safety of its fix.

    Given an error message of PyTorch, or the name of its page, explain the message: what it means, why it appears, and
    the repair.

    \b
    Examples:
      devfix explain DEV201
      devfix explain "Attempting to deserialize object on a CUDA device"
    """
    docs = rule_docs(code) if style != "json" else None
    if docs is not None:
        _show(_markdown(docs), style, docs.summary)
        return
    from devfix.cli._rule_names import import_configured_rules
    from devfix.rules.registry import rule_for

    rule = rule_for(code)
    if rule is None:
        import_configured_rules(trust_plugins)
        rule = rule_for(code)
    if rule is None:
        page = _error_page(code)
        if page is None:
            raise click.UsageError(_unknown(code))
        if style == "json":
            raise click.UsageError("--format json explains rules only; use text or md for a message.")
        _show(page, style)
        return
    if style == "json":
        click.echo(_json(rule), nl=False)
    else:
        _show(_markdown(rule), style, rule.summary)


def _error_page(word: str) -> str | None:
    from devfix.report.error_pages import page_for, page_text

    name = page_for(word)
    return page_text(name) if name is not None else None


def _show(page: str, style: str, summary: str = "") -> None:
    """Print Markdown: as it is, rendered on a terminal, or as plain text with the summary behind its title."""
    if style == "text" and is_for_people():
        from rich.console import Console
        from rich.markdown import Markdown
        from rich.theme import Theme

        readable = Theme({"markdown.code": "bold cyan"})  # rich's own has a black background, also on white terminals
        Console(highlight=False, theme=readable).print(Markdown(page, code_theme="ansi_dark"))
    else:
        click.echo(_plain(page, summary) if style == "text" else page, nl=False)


def _plain(page: str, summary: str) -> str:
    """Return Markdown as plain text: the title as it is, headings in capitals, code indented."""
    from devfix.report.rules import plain_text

    title, _, rest = page.partition("\n")
    heading = ": ".join(filter(None, (title.removeprefix("# "), summary)))
    return f"{heading}\n\n{plain_text(rest.lstrip())}"


def _markdown(rule: Rule | RuleDocs) -> str:
    return f"# {rule.code} {rule.name}\n\n{rule.documentation.strip()}\n{_messages(rule)}"


def _messages(rule: Rule | RuleDocs) -> str:
    """Return the section on the messages in which the bug ends; empty if it ends in none."""
    from devfix.report.error_pages import pages_for

    own = pages_for(rule.error_families, with_alike=False)
    if not own:
        return ""
    lines = [f"- `{name}`: {title}" for name, title in own.items()]
    others = ", ".join(f"`{name}`" for name in pages_for(rule.error_families) if name not in own)
    also = f"\nThe same in other words: {others}.\n" if others else ""
    intro = "The bug ends in one of these messages; `devfix explain NAME` prints the page about it.\n"
    return "\n".join(["", "## Error messages", intro, *lines, also])


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
