"""What a run is printed as, and what is said where a page cannot be made."""

import subprocess
import sys

import pytest

COMMANDS = {
    "verify": (["verify"], "--output-format html"),
    "verify --html": (["verify", "--html", "page.html"], "--html"),
    "trace": (["trace"], "--output-format html"),
    "trace --map": (["trace", "--map"], "--output-format html"),
    "migrate": (["migrate", "--report", "page.html"], "--report"),
}


@pytest.mark.parametrize(("command", "option"), COMMANDS.values(), ids=COMMANDS)
def test_without_jinja2_one_line_names_the_extra_before_anything_runs(tmp_path, command, option):
    (tmp_path / "script.py").write_text("raise SystemExit('was run')\n", encoding="utf-8")
    without = "import sys; sys.modules['jinja2'] = None; from devfix.cli import main; main(sys.argv[1:])"
    asked = ["--output-format", "html"] if option == "--output-format html" else []

    done = subprocess.run(
        [sys.executable, "-c", without, *command, "script.py", *asked], cwd=tmp_path, capture_output=True, text=True
    )

    assert done.returncode == 2
    assert done.stderr.strip() == f"devfix: {option} requires jinja2: pip install 'devfix[report]'"
    assert not (tmp_path / "page.html").exists()
