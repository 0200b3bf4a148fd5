"""Sessions: ``nox`` runs the quick ones, ``nox -s corpus conformance bench`` the slow ones."""

import nox

nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True

CONSTRAINTS = ("-c", "constraints.txt")


@nox.session(python=["3.10", "3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The test suite, on every Python that is installed."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: style, and formatting."""
    session.install(*CONSTRAINTS, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Mypy, strict."""
    session.install(*CONSTRAINTS, "-e", ".", "mypy")
    session.run("mypy")


@nox.session(default=False)
def corpus(session: nox.Session) -> None:
    """Every corpus program: repaired as its author would, and left alone where it is right."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "-n", "auto", "tests/corpus", *session.posargs)


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """The simulator against PyTorch's own operator database, each argument moved elsewhere in turn."""
    session.install(*CONSTRAINTS, "-e", ".[test]", "expecttest")
    session.run("pytest", "-n", "auto", "tests/simulator", *session.posargs)


@nox.session(default=False, venv_backend="none")
def cuda(session: nox.Session) -> None:
    """On a GPU, with the torch of python3: tests that need one, and the whole corpus; writes docs/verification.md."""
    session.run("python3", "corpus/on_gpu.py", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Ratios: start-up against click, scanning against ast.parse, the simulator against the plain CPU."""
    session.install(*CONSTRAINTS, "-e", ".[verify]")
    session.run("python", "benchmarks/startup.py")
    session.run("python", "benchmarks/simulator.py")
    session.run("python", "benchmarks/scan.py", *(session.posargs or ["corpus"]))
    session.run("python", "benchmarks/cache.py", *(session.posargs or ["corpus"]))


@nox.session(default=False)
def repair(session: nox.Session) -> None:
    """How good the repair is: bugs planted into the corpus, rebuilt incidents; more trees with ``-- precision DIR``."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    if session.posargs:
        session.run("python", "-m", "benchmarks.repair", *session.posargs)
        return
    session.run("python", "-m", "benchmarks.repair", "injected", "--out", "build/repair")
    session.run("python", "-m", "benchmarks.repair", "incidents")
