"""Plans: what they say, and which line is wrong."""

from dataclasses import replace

import pytest

from devfix.config import ConfigError
from devfix.migrate.plan import read_plan
from devfix.migrate.plan_lines import Lines
from devfix.migrate.plan_template import template
from devfix.migrate.task import Publishing, Verification

SECRET = "hunter2"


@pytest.fixture
def plan(tmp_path, repository):
    """Writes a plan beside the repository ``project``."""

    def written(text, name="plan.toml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


def test_a_whole_plan(plan, repository):
    (first, second, third) = read_plan(
        plan(
            """\
[defaults]
select = ["DEV1", "load-without-map-location"]
result = "branch"
author = "A Bot <bot@example.org>"
[defaults.verify]
device = "sim"
max-steps = 5

[[repository]]
path = "project"
ref = "main"
folder = "lab/training/"
severity = "latent"
verify = { script = "train.py", args = ["--epochs", "1"] }

[[repository]]
url = "https://example.org/lab/project.git"
result = "push"
branch = "fix"
timeout = 60

[[repository]]
url = "git@example.org:lab/project.git"
select = []
"""
        )
    )

    assert first.source == str(repository)
    assert (first.ref, first.folder, first.severity) == ("main", "lab/training", "latent")
    assert first.select == ("DEV1", "DEV301") and third.select == ()
    assert first.verification == Verification("train.py", ("--epochs", "1"), device="sim", max_steps=5)
    assert first.publishing == Publishing("branch", "devfix/device-main-lab-training", "A Bot <bot@example.org>")
    assert second.verification is None, "nothing is run where no script is named"
    assert (second.publishing.kind, second.publishing.branch, second.timeout) == ("push", "fix", 60.0)
    assert [task.number for task in (first, second, third)] == [0, 1, 2]
    assert (first.name, second.name) == ("project-lab-training", "lab-project")
    assert third.name.startswith("lab-project-")
    assert second.plan_location.endswith("plan.toml:16")


REPOSITORY = '[[repository]]\npath = "project"\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[repository]\n", 1, "not valid TOML"),
        ("[default]\n", 1, "unknown key 'default'; did you mean 'defaults'?"),
        (REPOSITORY + 'reff = "main"\n', 3, "unknown key 'reff'; did you mean 'ref'?"),
        (REPOSITORY + "[repository.verify]\nscript = 'a.py'\nstep = 3\n", 5, "unknown key 'step'"),
        (REPOSITORY + "verify = {}\nref = 3\n", 4, "ref must be a string"),
        (REPOSITORY + 'verify = { device = "sim" }\n', 3, "verify must name a script"),
        (REPOSITORY + 'verify = { script = "/a.py" }\n', 3, "not within the repository"),
        (REPOSITORY + 'verify = { script = "a.py", device = "tpu" }\n', 3, "device must be one of"),
        (REPOSITORY + 'verify = { script = "a.py", python = "./no/python" }\n', 3, "no such interpreter"),
        (REPOSITORY + 'verify = { script = "a.py", max-steps = 0 }\n', 3, "max-steps must be a number, at least 1"),
        (REPOSITORY + '\n# remark\n\nresult = "mail"\n', 6, "result must be one of patch, branch, push, pull-request"),
        (REPOSITORY + 'select = ["DEV999"]\n', 3, "unknown rule 'DEV999'"),
        (REPOSITORY + 'author = "me"\n', 3, "'me' is not of the form"),
        (REPOSITORY + 'branch = "a b"\n', 3, "is not a valid branch name"),
        (REPOSITORY + 'ref = "--upload-pack=x"\n', 3, "is not a valid branch"),
        (REPOSITORY + 'folder = "../x"\n', 3, "not a folder within the repository"),
        (REPOSITORY + 'ref = "fix"\nbranch = "fix"\nresult = "push"\n', 4, "would be overwritten"),
        (REPOSITORY + 'result = "branch"\nkeep-mirror = false\n', 4, "the branch would be deleted"),
        (REPOSITORY + 'fork = "maybe"\n', 3, "fork must be one of never, auto, always, not 'maybe'"),
        (REPOSITORY + 'result = "push"\nfork = "auto"\n', 4, "a fork needs a pull request"),
        (REPOSITORY + 'fork-owner = "bots"\n', 3, "fork-owner has no effect"),
        (REPOSITORY + 'split = "teams"\n', 3, "split must be one of none, owners, not 'teams'"),
        (REPOSITORY + 'split = "owners"\n', 3, "split needs branches"),
        (REPOSITORY + 'reviewers = "ann"\n', 3, "reviewers must be a list of strings, not 'ann'"),
        ('[defaults]\nwindow = "at night"\n', 2, "window: 'at night' is not of the form"),
        (REPOSITORY + "max-open = 3\n", 3, "unknown key 'max-open'"),
        (REPOSITORY + "timeout = true\n", 3, "timeout must be a number"),
        (REPOSITORY + REPOSITORY, 3, "is a duplicate of "),
        (
            REPOSITORY + 'name = "a"\n[[repository]]\nurl = "https://h/b"\nname = "a"\n',
            4,
            "the name 'a' is a duplicate",
        ),
        ('[[repository]]\nurl = "nowhere"\n', 2, "is not a URL that git accepts"),
        (f'[[repository]]\nurl = "gopher://me:{SECRET}@h/a"\n', 2, "is not a URL"),
        ('[[repository]]\nref = "main"\n', 1, "a repository needs a url or a local path"),
        ('[[repository]]\nurl = "https://h/a"\npath = "project"\n', 1, "not both"),
        ('[defaults]\nmessage = """\n[[repository]]\n"""\nseverity = "bad"\n', 5, "severity must be one of"),
    ],
)
def test_an_error_names_its_line(plan, text, line, message):
    path = plan(text)

    with pytest.raises(ConfigError) as caught:
        read_plan(path)

    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


PUSHED = '[defaults]\nresult = "push"\n'


def entries(*places, extra=""):
    return PUSHED + "".join(f'[[repository]]\nurl = "{url}"\nref = "{ref}"\n{extra}' for url, ref in places)


def test_each_ref_has_its_branch(plan):
    commit = "0123456789" * 4
    tasks = read_plan(plan(entries(*(("https://h/a", ref) for ref in ("main", "lab/next", commit)))))

    branches = [task.publishing.branch for task in tasks]
    assert branches == ["devfix/device-main", "devfix/device-lab-next", "devfix/device-012345678901"]


@pytest.mark.parametrize(
    "places",
    [
        (("https://h/a", "x/y"), ("https://h/a", "x-y")),
        (("https://h/a", "x"), ("https://h/a.git/", "y")),
        (("https://me@h/a", "x"), ("git@H:a.git", "y")),
        (("https://h/a", "x"), ("ssh://git@h/a", "x")),
    ],
    ids=["equal names", "suffix", "ssh", "equal refs"],
)
def test_two_entries_with_one_branch_are_refused_before_work_begins(plan, places):
    path = plan(entries(*places, extra="" if places[0][1] in ("x/y", places[1][1]) else 'branch = "fix"\n'))

    with pytest.raises(ConfigError, match=r"belongs to .*plan.toml:3: set branch for one of them"):
        read_plan(path)


def test_patches_need_no_branch(plan):
    assert len(read_plan(plan(entries(("https://h/a", "x/y"), ("https://h/a", "x-y")).replace("push", "patch")))) == 2


def test_a_repository_that_is_missing_is_found_out_later(plan, repository):
    text = '[[repository]]\npath = "nowhere"\n' + REPOSITORY

    assert [task.name for task in read_plan(plan(text))] == ["nowhere", "project"]


def test_a_list(plan, repository):
    path = plan(
        "# ours\n\nproject main  # the only one\nhttps://example.org/a/b.git v1.0 training\n", "repositories.txt"
    )

    first, second = read_plan(path)

    assert (first.source, first.ref, first.plan_location) == (str(repository), "main", f"{path}:3")
    assert (second.source, second.ref, second.folder) == ("https://example.org/a/b.git", "v1.0", "training")


@pytest.mark.parametrize(
    ("text", "line"),
    [("project\nproject\n", 2), ("a b c d\n", 1), ("project -x\n", 1)],
    ids=["duplicate", "too many words", "ref"],
)
def test_an_error_in_a_list_names_its_line(plan, text, line):
    path = plan(text, "list.txt")

    with pytest.raises(ConfigError, match=f"list.txt:{line}: "):
        read_plan(path)


def test_a_folder(tmp_path, repository, git):
    (tmp_path / "more" / "deep").mkdir(parents=True)
    git("init", "-q", "--bare", "z.git", cwd=tmp_path / "more" / "deep")
    (repository / "inside" / ".git").mkdir(parents=True)

    assert [task.name for task in read_plan(str(tmp_path))] == ["project", "z"]
    assert [task.source for task in read_plan(str(repository))] == [str(repository)]


@pytest.mark.parametrize("given", ["nowhere", "empty"])
def test_nothing_there(tmp_path, given):
    (tmp_path / "empty").mkdir()

    with pytest.raises(ConfigError, match=r"no such plan|no repository here"):
        read_plan(str(tmp_path / given))


def test_what_init_writes_is_a_plan_for_the_same(tmp_path, repository, plan):
    path = plan(template(read_plan(str(tmp_path)), str(tmp_path)), "made.toml")

    assert [task.source for task in read_plan(path)] == [str(repository)]


def test_every_remark_of_the_template_holds(tmp_path, repository, plan):
    text = template(read_plan(str(tmp_path)), str(tmp_path))
    said = "\n".join(
        line.removeprefix("# ") if (line.startswith("# ") and " = " in line) or line.startswith("# [") else line
        for line in text.splitlines()
    ).replace('script = "train.py", max-steps = 20 }', 'script = "train.py" }')

    (task,) = read_plan(plan(said, "said.toml"))

    assert task.publishing == Publishing(branch="devfix/device-main"), "its ref is appended"
    assert task.verification.device == "auto" and task.verification.setup == "--write-checkpoint"
    assert (task.timeout, task.memory_mb, task.max_fetch_mb, task.ref) == (3600.0, 4096, 2048, "main")


def test_lines_of_keys():
    lines = Lines('[a]\nx = """\n[b]\ny = 1\n"""\nz.w = 1\n[[r]]\n[[r]]\n"odd key" = 1\n[r.v]\nq = 2\n')

    assert lines.line_of("a", "x") == 2
    assert lines.line_of("b") == 0
    assert lines.line_of("a", "z", "w") == 6
    assert lines.line_of("r", 1, "odd key") == 9
    assert lines.line_of("r", 1, "v", "q") == 11
    assert lines.line_of("r", 0, "v") == 7


def test_forks_are_asked_for_by_default_and_by_repository(plan):
    text = (
        '[defaults]\nresult = "pull-request"\nfork = "auto"\nfork-owner = "bots"\n[[repository]]\nurl = "https://h/a"\n'
        '[[repository]]\nurl = "https://h/b"\nfork = "always"\n'
        '[[repository]]\nurl = "https://h/c"\nfork = "never"\n'
    )

    asked = [(task.publishing.fork, task.publishing.fork_owner) for task in read_plan(plan(text))]

    assert asked == [("auto", "bots"), ("always", "bots"), ("never", "bots")]


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("https://github.com/lab/nets.git", "github"),
        ("git@gitlab.com:lab/nets.git", "gitlab"),
        ("https://codeberg.org/lab/nets", "gitea"),
        ("https://code.lab.org/nets", None),
    ],
)
def test_the_forge_tells_how_to_read_its_owners(plan, url, dialect):
    text = f'[defaults]\nresult = "push"\n[[repository]]\nurl = "{url}"\nsplit = "owners"\n'

    (task,) = read_plan(plan(text))

    assert (task.publishing.split, task.publishing.dialect) == (True, dialect)


def test_owners_may_be_the_reviewers(plan):
    text = '[defaults]\nresult = "pull-request"\nreviewers = "owners"\n[[repository]]\nurl = "https://github.com/a/b"\n'

    (first, second) = read_plan(plan(text + '[[repository]]\nurl = "https://github.com/a/c"\nreviewers = ["ann"]\n'))

    assert (first.publishing.owner_reviews, first.publishing.reviewers) == (True, ())
    assert (second.publishing.owner_reviews, second.publishing.reviewers) == (False, ("ann",))


def test_asking_for_parts_processes_the_repository_again(task):
    publishing = Publishing("pull-request")

    keys = {
        replace(task, publishing=asked).settings_key
        for asked in (publishing, replace(publishing, split=True), replace(publishing, owner_reviews=True))
    }

    assert len(keys) == 3
