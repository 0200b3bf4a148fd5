"""Who hands out the work does not import what does it."""

import subprocess
import sys

from devfix.migrate.task_entry import migrate


def test_it_is_the_work(task):
    record = migrate(task)

    assert record.outcome.value == "fixed" and "to(device)" in record.patch


def test_handing_it_out_imports_neither_the_analysis_nor_libcst():
    program = (
        "import sys, devfix.cli.migrating.run, devfix.migrate.task_entry, devfix.migrate.plan, devfix.migrate.run, "
        "devfix.migrate.state, devfix.report.migrations.progress, devfix.migrate.engines.local; "
        "print(*sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert not {"devfix.analysis", "devfix.engine.fixpoint", "libcst", "codemods"} & set(done.stdout.split())
