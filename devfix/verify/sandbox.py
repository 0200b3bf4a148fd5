"""Scratch copies of projects, and an environment without secrets."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "CopyError",
    "ProjectTooLarge",
    "Scratch",
    "UnsafeChange",
    "clean_environment",
    "overlay",
    "scratch_copy",
    "secret_paths",
]

#: Folders that are not copied.
SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "node_modules",
    }
)

#: Environment variables that are passed to a run.  Any other may hold a token.
ALLOWED_VARIABLES = frozenset(
    {
        "PATH",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TERM",
        "LD_LIBRARY_PATH",
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "SYSTEMROOT",
        "TORCH_HOME",
        "CUDA_VISIBLE_DEVICES",
    }
)

_FICLONE = 0x40049409
DEFAULT_SIZE_LIMIT = 4 << 30


#: Paths below the home folder that are hidden from a run: keys, tokens, passwords, and shell histories.
SECRETS_AT_HOME = (
    ".netrc _netrc .ssh .aws .azure .boto .s3cfg .oci .bluemix .config/gcloud .config/gh .config/hub .config/glab-cli "
    ".config/git/credentials .git-credentials .docker .kube .gnupg .huggingface .cache/huggingface/token "
    ".cache/huggingface/stored_tokens .kaggle .config/kaggle .config/wandb .comet.config .neptune .mlflow/credentials "
    ".pypirc .config/pip .pip .npmrc .yarnrc .yarnrc.yml .cargo/credentials .cargo/credentials.toml .gem/credentials "
    ".m2/settings.xml .config/rclone .config/op .password-store .local/share/keyrings .terraform.d .databrickscfg "
    ".pgpass .my.cnf .modal.toml .config/ngrok .vault-token .bash_history .zsh_history .python_history "
    ".local/share/fish .mozilla .config/google-chrome .config/chromium .thunderbird"
).split()

#: Hidden paths elsewhere: sockets of agents, desktops and container engines, and credentials of cluster jobs.
SECRETS_ELSEWHERE = (
    "/run/user",
    "/run/secrets",
    "/run/credentials",
    "/run/dbus",
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/etc/krb5.keytab",
)

#: Variables with paths of credential files or agent sockets.
SECRET_PATH_VARIABLES = (
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_CONFIG_DIR",
    "KUBECONFIG",
    "DOCKER_CONFIG",
    "NETRC",
    "HF_TOKEN_PATH",
    "KAGGLE_CONFIG_DIR",
    "NPM_CONFIG_USERCONFIG",
    "PIP_CONFIG_FILE",
)


class ProjectTooLarge(Exception):
    """The project's folder is larger than the limit for a scratch copy."""


class CopyError(Exception):
    """The project's folder was deleted, or there is no space for its copy."""


class UnsafeChange(Exception):
    """A change would be written outside the scratch copy."""


class Scratch(NamedTuple):
    """Folders of one run: ``project`` is the copy, ``home`` is ``$HOME``, and ``folder`` contains both."""

    folder: Path
    project: Path
    home: Path


def _clone_or_copy(source: str, target: str) -> str:
    """Copy one file, as a reflink if the file system supports it (no hard link: the script may write in place)."""
    try:
        with open(source, "rb") as reader, open(target, "wb") as writer:
            fcntl.ioctl(writer.fileno(), _FICLONE, reader.fileno())
    except OSError:
        shutil.copyfile(source, target)
    shutil.copystat(source, target)
    return target


def _ignored(folder: str, names: list[str]) -> set[str]:
    """Return the names to skip: folders that a run does not need, and sockets, pipes and devices."""
    left_out = set(SKIPPED_FOLDERS.intersection(names))
    for name in names:
        path = os.path.join(folder, name)
        if not (os.path.islink(path) or os.path.isdir(path) or os.path.isfile(path)):
            left_out.add(name)
    return left_out


def _check_size(project: Path, limit: int) -> None:
    total = 0
    for folder, folders, files in os.walk(project):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
        if total > limit:
            raise ProjectTooLarge(
                f"{project} is larger than {limit >> 20} MB, too large to copy for each run: select a smaller folder "
                "that contains the script with --project; data outside it is not copied and can be read by absolute "
                "path, or relative to a working directory set with --cwd"
            )


#: Errors after which a file is skipped: the script cannot read it either, or it was deleted meanwhile.
_LEFT_OUT = tuple(f"[Errno {number}]" for number in (errno.EACCES, errno.EPERM, errno.ENOENT))


def _copy_tree(project: Path, copy: Path) -> None:
    """Copy all readable files.

    Raises:
        CopyError: the folder cannot be read, or a file failed for another reason than its permissions.

    """
    try:
        shutil.copytree(project, copy, symlinks=True, ignore=_ignored, copy_function=_clone_or_copy, dirs_exist_ok=True)
    except shutil.Error as error:
        left = [(path, str(why)) for path, _, why in error.args[0] if not str(why).startswith(_LEFT_OUT)]
        if left:
            path, why = left[0]
            reason = why.split(":")[0]  # without the two paths
            raise CopyError(f"{path} could not be copied to {copy.parent.parent}: {reason}{_advice(why)}") from error
    except OSError as error:
        raise CopyError(f"{project} could not be copied: {error.strerror}") from error


def _advice(why: str) -> str:
    full = any(f"[Errno {number}]" in why for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
    return "; set TMPDIR to a folder with more space" if full else ""


@contextmanager
def scratch_copy(project: Path, size_limit: int = DEFAULT_SIZE_LIMIT, keep: bool = False) -> Iterator[Scratch]:
    """Yield a copy of ``project``, and delete it afterwards unless ``keep``.

    Raises:
        ProjectTooLarge: the copy would exceed ``size_limit`` bytes.
        CopyError: the project was deleted, or there is no space for its copy.

    """
    _check_size(project, size_limit)
    try:
        folder = Path(tempfile.mkdtemp(prefix="devfix-run-")).resolve()
    except OSError as error:
        raise CopyError(f"cannot create a scratch folder: {error.strerror}; set TMPDIR to its parent folder") from error
    try:
        copy, home = folder / "project", folder / "home"
        home.mkdir()
        (folder / "tmp").mkdir()
        _copy_tree(project, copy)
        _point_links_inside(project, copy)
        yield Scratch(folder, copy, home)
    finally:
        if not keep:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Delete a folder, even if the script made it read-only."""
    for current, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(current, name)
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _point_links_inside(project: Path, copy: Path) -> None:
    """Redirect absolute links into the project to the copy, so that the script cannot write to the original."""
    for current, folders, files in os.walk(copy):
        for name in (*folders, *files):
            path = os.path.join(current, name)
            if not os.path.islink(path):
                continue
            target = os.readlink(path)
            if os.path.isabs(target) and _within(os.path.realpath(target), project):
                os.unlink(path)
                os.symlink(copy / os.path.relpath(os.path.realpath(target), project), path)


def _within(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(str(folder) + os.sep)


def overlay(copy: Path, changes: Mapping[str, bytes]) -> None:
    """Write new contents of files, by their path within the scratch copy; replace links, never follow them.

    Raises:
        UnsafeChange: a path resolves to a file outside the copy.

    """
    for name, content in changes.items():
        target = copy / name
        if not _within(os.path.realpath(target.parent), copy):
            raise UnsafeChange(f"{name} is behind a symbolic link to a folder outside the project")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content)


def secret_paths() -> list[str]:
    """Return the existing files and folders with credentials."""
    homes = {os.path.expanduser("~"), pwd.getpwuid(os.getuid()).pw_dir}
    in_homes = [os.path.join(home, name) for home in sorted(homes) for name in SECRETS_AT_HOME]
    configured = [os.environ.get(name, "") for name in SECRET_PATH_VARIABLES]
    paths = (*in_homes, *SECRETS_ELSEWHERE, *configured)
    return [path for path in paths if os.path.isabs(path) and os.path.exists(path)]


def clean_environment(scratch: Scratch, extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return a run's environment: allowed variables, a scratch home, one thread, and a fixed hash seed."""
    environment = {name: value for name, value in os.environ.items() if name in ALLOWED_VARIABLES}
    environment.update(
        HOME=str(scratch.home),
        TMPDIR=str(scratch.folder / "tmp"),
        XDG_CACHE_HOME=str(scratch.home / ".cache"),
        MPLCONFIGDIR=str(scratch.home / ".matplotlib"),
        MPLBACKEND="Agg",
        OMP_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONUNBUFFERED="1",
        TOKENIZERS_PARALLELISM="false",
        WANDB_MODE="disabled",
    )
    environment.update(extra or {})
    return environment
