"""The page of a migration: what is counted, listed and embedded, that hostile text stays text, and its colours."""

import base64
import hashlib
import html.parser
import json
import re
import zlib
from dataclasses import replace

import migrations
import pytest

from devfix.migrate.record import Part, Published, Record, RepositoryOutcome
from devfix.report.html import script_json, terminal_text
from devfix.report.migrations.details import details

pytest.importorskip("jinja2")
pytest.importorskip("pygments")

from devfix.report.migrations import page as migration_page


class Page(html.parser.HTMLParser):
    """Elements with their attributes and text; scripts apart."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.text, self._inside = [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        self.text += " "
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self._inside[-1:] == ["script"]:
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif "style" not in self._inside:
            self.text += data

    @property
    def details(self):
        blocks = [unpacked(text) for attributes, text in self.scripts if attributes.get("class") == "block"]
        assert all(len(block) == 100 for block in blocks[:-1])
        return [blocks[row[10] // 100][row[10] % 100] for row in self.index]

    @property
    def index(self):
        return next(unpacked(text) for attributes, text in self.scripts if attributes.get("id") == "index")

    @property
    def own(self):
        return [text for attributes, text in self.scripts if "type" not in attributes]

    @property
    def policy(self):
        return next(found["content"] for _, found in self.elements if found.get("http-equiv"))


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def page(records, **options):
    return Page(migration_page.page(records, **options))


def words(text):
    return " ".join(text.split())


def test_what_needs_attention_comes_first_and_each_row_has_its_details():
    read = page(migrations.one_of_each())

    assert [row[0] for row in read.index] == ["failed-2", "not-fixed-3", "fixed-1", "clean-0"]
    assert [found["facts"][0][1][-1] for found in read.details] == ["2", "3", "1", "0"]
    openers = [found for tag, found in read.elements if tag == "button" and found.get("class") == "open"]
    assert len(openers) == 4 and all(found["aria-expanded"] == "false" for found in openers)


def test_totals_count_every_repository_once():
    suppressed = migrations.finding(status="suppressed")
    read = page([*migrations.one_of_each(), migrations.record(4, findings=(suppressed,))])

    text = words(read.text)
    assert "5 repositories, 10 files checked, 17.5 s of computation" in text
    assert "2 findings in 2 repositories" in text and "1 fixed by 1 patch" in text
    assert "1 remaining 1 suppressed" in text and "1 verified 1 fixed" in text
    assert "DEV101 batch-not-moved 1 1 0 1" in text and "DEV301 batch-not-moved 1 0 1 1" in text


def test_a_repair_whose_patch_was_not_kept_counts_as_left():
    dropped = migrations.fixed(1, patch="", verdict=migrations.verdict(status="loss-differs", good=False))
    read = page([replace(dropped, outcome=RepositoryOutcome.NOT_FIXED, reason="the verdict is loss-differs")])

    assert "0 fixed by 0 patches" in words(read.text) and "1 remaining 0 suppressed" in words(read.text)
    assert read.details[0]["findings"][0]["status"] == "not kept"


def test_of_too_many_those_without_trouble_are_counted_and_not_listed():
    read = page([*(migrations.record(number) for number in range(9)), migrations.failed(9)], limit=3)

    assert [row[0] for row in read.index] == ["failed-9", "clean-0", "clean-1"]
    assert "10 repositories" in read.text and "7 more repositories are counted above but not listed" in read.text


def test_many_repositories_are_listed_in_small_space_and_few_are_rows_of_the_document():
    clean = [migrations.record(number) for number in range(5000)]
    read = page([*clean, *map(migrations.fixed, range(5000, 5250))])

    openers = [found for tag, found in read.elements if tag == "button" and found.get("class") == "open"]
    assert len(openers) == 200 and len(read.index) == len(read.details) == 5250
    assert [row[0] for row in read.index[:2]] == ["fixed-5000", "fixed-5001"]
    assert [found["facts"][0][1].rpartition("/")[2] for found in read.details[249:252]] == ["5249", "0", "1"]
    assert len(migration_page.page(clean)) < 5000 * 80


def test_patches_beyond_a_number_have_no_colours(monkeypatch):
    monkeypatch.setattr(migration_page, "_MAX_COLOURED", migrations.PATCH.count("\n"))

    first, second = page([migrations.fixed(0), migrations.fixed(1)]).details

    pieces = [found["diff"][0]["hunks"][0][3][0] for found in (first, second)]
    assert ["keyword" in piece for piece in pieces] == [True, False]
    assert "".join(pieces[0][2::2]) == pieces[1][2]


def test_a_page_of_nothing_is_a_page():
    read = page([])

    assert "0 repositories" in read.text and read.index == [] and read.details == []


def test_the_page_needs_nothing_else_and_runs_its_own_script_only():
    text = migration_page.page(migrations.one_of_each())
    read = Page(text)

    (own,) = read.own
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in read.policy and "default-src 'none'" in read.policy
    assert "require-trusted-types-for 'script'" in read.policy and "unsafe-eval" not in read.policy
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in read.elements}
    assert not any(name.startswith("on") or name in ("src", "href") for _, found in read.elements for name in found)
    assert not re.search(r"url\(|@import|innerHTML|insertAdjacent|document\.write|\beval\b|fetch\(", text)


def test_hostile_text_ends_no_element_and_begins_none():
    plain, read = page([migrations.not_fixed(0)]), page([migrations.hostile(0)])

    assert len(read.own) == 1 and len(read.scripts) == len(plain.scripts)
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in plain.elements} | {"option", "tr", "td", "th"}
    assert not any(name.startswith("on") for _, found in read.elements for name in found)
    told = json.dumps(read.details)
    assert "</script><script>alert('x')</script>" in told and "<img src=x" in read.text
    assert not {"\\u001b", "\\u202e", "\\udce9"} & set(re.findall(r"\\u[0-9a-f]{4}", told))


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "git@host:a/b", "/srv/a b", " https://x"],
)
def test_only_an_address_of_the_web_becomes_a_link(address):
    assert details(migrations.record(0, repository=address))["web"] == ""
    assert details(migrations.record(0, repository="https://host/a/b.git"))["web"] == "https://host/a/b.git"


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "]]>", "&lt;", "\u2028", "a\\u003c"])
def test_embedded_json_holds_no_markup_and_gives_back_the_text(text):
    made = str(script_json([text]))

    assert not set(made) & set("<>&\u2028") and json.loads(made) == [text]


def test_json_of_numbers_that_are_none_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))


def test_a_log_is_shown_as_a_terminal_leaves_it():
    log = "\x1b[1;31mfatal:\x1b[0m no\r\n10%\r50%\r\r99%\r\n\x1b]0;title\x07end\x00"

    assert terminal_text(log) == "fatal: no\n99%\nend\ufffd"
    assert details(migrations.failed(0))["log"] == "fatal: no such remote\nReceiving: 99%"


def test_why_it_is_not_fixed_is_said():
    assert details(migrations.failed(0))["why"] == ["Failed in stage fetch", "git ended with 128"]
    assert details(migrations.not_fixed(0))["why"] == ["Not fixed", "1 finding is left"]
    assert details(migrations.fixed(0))["why"] == []


def test_a_finding_has_its_path_and_the_patch_its_colours():
    found = details(migrations.fixed(1))

    (finding,) = found["findings"]
    assert (finding["where"], finding["fix"]) == ("train.py:11:5", "move `labels` to `device` (safe)")
    assert finding["events"][0] == ["created", "data.py:3", "return x, y", "made here"]
    (file,) = found["diff"]
    assert (file["path"], file["added"], file["removed"]) == ("train.py", 2, 1)
    assert file["hunks"][0][3][4] == ["+", "comment", "        # the labels move"]


def test_both_curves_are_read_at_the_same_numbers():
    drawn = details(migrations.fixed(1))["verdict"]["chart"]

    assert drawn["names"] == ["original/cpu", "patched/device"] and drawn["lines"][0] == drawn["lines"][1]
    assert [reading[0] for reading in drawn["readings"]] == [1, 2, 3, 4]
    assert [reading[2:] for reading in drawn["readings"]] == [[loss, loss] for loss in (0.9, 0.7, 0.6, 0.55)]
    assert drawn["summary"] == "no difference at any pass"


def test_many_losses_are_thinned_alike_and_a_spike_is_kept():
    runs = dict(migrations.verdict(tuple(1 / (step + 1) for step in range(1000))).runs)
    spiky = tuple(9.0 if step == 501 else loss for step, loss in enumerate(runs["patched/device"].losses))
    runs["patched/device"] = replace(runs["patched/device"], losses=spiky)

    drawn = details(migrations.fixed(1, verdict=migrations.verdict(runs=runs)))["verdict"]["chart"]

    losses = {number: both for number, _, *both in drawn["readings"]}
    assert len(losses) < 700 and losses[502] == [round(1 / 502, 11), 9.0]
    assert drawn["summary"] == "largest difference 9, at pass 502"


def test_losses_that_were_thinned_before_have_the_numbers_of_their_steps():
    runs = dict(migrations.verdict((5.0, 4.0, 3.0, 2.0)).runs)
    for name in ("original/cpu", "patched/device"):
        runs[name] = replace(runs[name], stride=10, steps=25)

    drawn = details(migrations.fixed(1, verdict=migrations.verdict(runs=runs)))["verdict"]["chart"]

    assert [reading[0] for reading in drawn["readings"]] == [1, 11, 21, 25]


@pytest.mark.parametrize("losses", [(), (0.5,), (float("nan"),) * 3])
def test_without_losses_there_is_no_chart(losses):
    assert details(migrations.fixed(1, verdict=migrations.verdict(losses)))["verdict"]["chart"] is None


def test_what_would_be_too_heavy_is_cut_and_said():
    lines = "".join(f"+x = {number}\n" for number in range(3000))
    patch = f"--- a/data.txt\n+++ b/data.txt\n@@ -0,0 +1,3000 @@\n{lines}"
    many = tuple(migrations.finding() for _ in range(250))

    found = details(migrations.fixed(1, patch=patch, findings=many, log="x" * 50_000))

    assert (found["more_lines"], len(found["diff"][0]["hunks"][0][3])) == (1000, 2000)
    assert (found["more_findings"], len(found["findings"])) == (50, 200)
    assert found["log"].startswith("…") and len(found["log"]) < 20_000


def test_a_record_that_was_read_from_its_line_makes_the_same_page():
    records = [*migrations.one_of_each(), migrations.hostile(4)]

    assert migration_page.page(records) == migration_page.page([Record.from_line(record.line()) for record in records])


# --- colours: https://www.w3.org/TR/WCAG22/#contrast-minimum ---------------------------------------------------------
TEXTS = (
    "text",
    "soft",
    "good",
    "bad",
    "unsure",
    "keyword",
    "name",
    "builtin",
    "string",
    "digits",
    "comment",
    "origin",
    "move",
)
BACKS = {"text": ("back", "panel", "added", "removed"), "good": ("back", "panel"), "bad": ("back", "panel")}
BACKS["good"] += ("good-back",)
BACKS["bad"] += ("bad-back",)
BACKS |= {"unsure": ("back", "panel", "unsure-back"), "reference": ("back",), "origin": ("back",), "move": ("back",)}


def luminance(colour):
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_can_be_read_on_what_it_stands_on(dark):
    text = migration_page.page([])
    colours = {
        name: both[dark]
        for name, *both in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", text)
    }

    pairs = [(name, back) for name in TEXTS for back in BACKS.get(name, BACKS["text"])]
    poor = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}
    assert min(contrast(colours[name], colours["back"]) for name in ("accent", "control")) >= 3


def test_the_parts_of_a_patch_and_their_pull_requests_are_facts():
    opened = Published("pull-request", "", "devfix/device-ann", "a" * 40, url="https://h/pull/1")
    parts = (Part((), "unowned", ("b.py", "c.py")), Part(("@ann", "@lab/core"), "ann", ("a.py",), opened))

    read = page([migrations.record(1, parts=parts)])

    facts = dict(map(tuple, read.details[0]["facts"]))
    assert facts["files of nobody"] == "b.py, c.py"
    assert facts["files of @ann, @lab/core"] == "https://h/pull/1"
