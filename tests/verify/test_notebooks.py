"""Notebooks that are run: what a cell leaves, what a shell line does not do, and where a failure is."""

import json

import pytest
from made_notebooks import notebook

pytest.importorskip("torch")

from devfix.verify import RunError, run


@pytest.fixture
def ran(tmp_path):
    def call(*cells, device="cpu", **options):
        (tmp_path / "a.ipynb").write_bytes(notebook("import torch", *cells))
        return run("a.ipynb", (), device, tmp_path, **options)

    return call


def test_cells_share_their_names_and_their_future(ran):
    done = ran("from __future__ import annotations\nx = 1", "def f(a: nowhere):\n    return a + x", "print(f(2))")

    assert done.ok and done.output == "3\n", done.output


def test_await_is_for_all_cells_of_one_loop(ran):
    done = ran(
        "import asyncio\nasync def f():\n    return 5\ntask = asyncio.get_event_loop().create_task(f())\nawait f()",
        "print(await task)",
    )

    assert done.ok and done.output == "5\n", done.output


def test_shell_lines_do_nothing(ran, tmp_path):
    done = ran(
        "!echo told\n!touch here\nfiles = !ls\nprint(files)",
        "%%bash\necho told\ntouch here",
        "import os\nprint(os.path.exists('here'))\n%timeit -n 1 -r 1 print('timed')\nt = %timeit -o 1\nprint(t)",
        "print?\n?print\ndisplay(3);\n!mkdir -p a/b\nprint(os.path.isdir('a/b'))",
    )

    assert done.ok and done.output == "[]\nFalse\ntimed\nNone\n3\nTrue\n", done.output


def test_files_that_cells_write_are_there(ran):
    done = ran("%%writefile parts.py\nx = 7", "from parts import x\nprint(x)")

    assert done.output == "7\n"


def test_hosted_modules_have_stand_ins_where_nobody_asks(ran):
    done = ran("from google.colab import drive, files\ndrive.mount('/content/drive')\nfiles.download('x')\nprint('on')")

    assert done.ok and done.output == "on\n", done.output


def test_who_asks_whether_it_runs_in_colab_is_told_no(ran):
    asked = "try:\n    import google.colab\n    print('colab')\nexcept ImportError:\n    print('here')"
    done = ran(asked, "import sys\nprint('google.colab' in sys.modules, 'colab' in str(get_ipython()))")

    assert done.output == "here\nFalse False\n", done.output


def test_a_mounted_folder_that_is_not_there_fails_clearly(ran):
    done = ran("from google.colab import drive\ndrive.mount('/content/drive')", "open('/content/drive/MyDrive/x.pt')")

    assert done.failure.type == "FileNotFoundError"
    assert done.failure.where == "a.ipynb:cell 3:1"


def test_a_failure_is_told_by_cell_and_line(ran):
    done = ran("def f():\n    raise ValueError('no')", "x = 1\n%time f()")

    assert done.failure.where == "a.ipynb:cell 2:2"
    assert 'File "a.ipynb", cell 3, line 2, in <module>\n    %time f()\n' in done.failure.traceback
    assert 'File "a.ipynb", cell 3, line 2, in <module>' in done.output
    assert done.outcome == "ValueError: no at a.ipynb:cell 2:2"


def test_source_can_be_looked_at_as_in_a_notebook(ran):
    done = ran("import inspect\ndef f(x):\n    return x", "print(inspect.getsource(f))")

    assert done.output == "def f(x):\n    return x\n\n", done.output


def test_the_notebook_itself_stays(ran, tmp_path):
    done = ran("import json\nprint(len(json.load(open('a.ipynb'))['cells']))")

    assert done.output == "2\n"
    assert len(json.loads((tmp_path / "a.ipynb").read_bytes())["cells"]) == 2


def test_what_is_no_notebook_cannot_be_run(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(b"{torch")

    with pytest.raises(RunError, match=r"a\.ipynb is no valid JSON"):
        run("a.ipynb", (), "cpu", tmp_path)
