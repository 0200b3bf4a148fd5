"""Files outside a scratch copy: what a run may read, and what is kept from it."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from devfix.verify.probe.confinement.file_view import FileView

__all__ = [
    "CACHE_VARIABLES",
    "file_view",
    "home_folders",
    "is_private",
    "link_into_home",
    "named_paths",
    "withheld_path",
]

#: Folders of data sets and models below the home folder, where libraries find them without a setting.
_CACHES = (
    ".cache/torch .cache/huggingface/hub .cache/huggingface/datasets .cache/huggingface/modules "
    ".cache/huggingface/transformers .cache/huggingface/diffusers .cache/huggingface/accelerate .cache/torch_geometric "
    ".cache/clip .cache/whisper .cache/kagglehub/datasets .cache/kagglehub/models .cache/modelscope/hub "
    ".cache/modelscope/datasets .cache/open_clip .cache/fairseq .cache/dgl .cache/openml .cache/audeering "
    ".dgl .torch .keras/datasets .keras/models .insightface/models .EasyOCR/model .flair .medmnist .stanza "
    ".fastai/data .fastai/archive nltk_data scikit_learn_data tensorflow_datasets stanza_resources gensim-data "
    "seaborn-data"
).split()

#: Variables with folders of data sets and models, which are readable.
_CACHE_VARIABLES = frozenset(
    (
        *("TORCH_HOME", "TORCH_HUB", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_DATASETS_CACHE", "HF_MODULES_CACHE"),
        *("TRANSFORMERS_CACHE", "SENTENCE_TRANSFORMERS_HOME", "DIFFUSERS_CACHE", "NLTK_DATA", "SCIKIT_LEARN_DATA"),
        *("TFDS_DATA_DIR", "DGL_DOWNLOAD_DIR", "KERAS_HOME", "STANZA_RESOURCES_DIR", "GENSIM_DATA_DIR"),
    )
)

#: The folder of tokens and caches of Hugging Face's libraries; of it, only the caches are readable.
HUGGING_FACE = "HF_HOME"
_HUGGING_FACE_CACHES = ("hub", "datasets", "modules")
_HUGGING_FACE_TOKENS = ("token", "stored_tokens")

#: Variables that tell a run where data sets and models are.
CACHE_VARIABLES = _CACHE_VARIABLES | {HUGGING_FACE}

#: Files with credentials outside of home folders that a run of the same user could read.
_PRIVATE = (
    "/etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/krb5.keytab /etc/ssh /etc/ssl/private /etc/docker "
    "/etc/kubernetes /etc/rancher /etc/wireguard /etc/NetworkManager/system-connections /etc/environment "
    "/var/lib/cloud /var/lib/docker /var/lib/containerd /var/lib/kubelet /var/lib/rancher /var/backups /var/mail "
    "/var/spool/cron /secrets /var/secrets"
).split()

#: Variables with paths of credential files or agent sockets.
_PRIVATE_VARIABLES = (
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
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "RUNNER_TEMP",
)

#: Names of files in projects that hold credentials of people and machines.
_PRIVATE_NAMES = (
    ".env .env.* *.env .envrc .netrc _netrc .pypirc .npmrc .yarnrc.yml .git-credentials .pgpass .my.cnf .boto .s3cfg "
    ".htpasswd .vault-token kaggle.json secrets.toml secrets.yaml secrets.yml secrets.json credentials.json "
    "client_secret*.json service-account*.json service_account*.json *.pem *.p12 *.pfx *.ppk *.keytab id_rsa id_dsa "
    "id_ecdsa id_ed25519"
).split()
_PRIVATE_FOLDERS = frozenset(".ssh .aws .azure .kube .docker .gnupg .kaggle .huggingface .password-store".split())
#: Templates of such files.
_PUBLIC_NAMES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults", "cacert.pem")


def home_folders() -> list[str]:
    """Return the home folders of the user: that of the environment, and that of the user database."""
    homes = [os.path.expanduser("~")]
    with suppress(KeyError):  # a container's user without an entry
        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    return sorted({os.path.realpath(home) for home in homes if os.path.isabs(home) and os.path.isdir(home)})


def is_private(path: str, homes: Collection[str]) -> bool:
    """Return whether a file or folder of a project may hold credentials; in a home folder, each hidden one may."""
    folder, name = os.path.split(path)
    if folder in homes and name.startswith("."):
        return True
    if os.path.isdir(path):
        return name in _PRIVATE_FOLDERS
    if any(fnmatch(name, pattern) for pattern in _PUBLIC_NAMES):
        return False
    return any(fnmatch(name, pattern) for pattern in _PRIVATE_NAMES)


def _private_paths() -> list[str]:
    """Return the existing files and folders with credentials outside of home folders and projects."""
    configured = [os.environ.get(name, "") for name in _PRIVATE_VARIABLES]
    if os.environ.get(HUGGING_FACE):
        configured += [os.path.join(os.environ[HUGGING_FACE], name) for name in _HUGGING_FACE_TOKENS]
    return [path for path in (*_PRIVATE, *configured) if os.path.isabs(path) and os.path.exists(path)]


def _place_caches(home: Path) -> Iterator[tuple[str, str]]:
    """Yield the existing folders of data sets and models, with the folders created for them in a run's home folder."""
    user = os.path.expanduser("~")
    for name in _CACHES:
        if os.path.isdir(os.path.join(user, name)):
            os.makedirs(home / name, exist_ok=True)
            yield os.path.join(user, name), str(home / name)


def _configured_caches() -> Iterator[str]:
    for name in _CACHE_VARIABLES:
        yield from os.environ.get(name, "").split(os.pathsep)
    if os.environ.get(HUGGING_FACE):
        yield from (os.path.join(os.environ[HUGGING_FACE], name) for name in _HUGGING_FACE_CACHES)


def named_paths(args: Sequence[str]) -> list[str]:
    """Return the absolute paths of existing files and folders among a script's arguments (``PATH``, ``--name=PATH``).

    Hidden files and folders of a home folder are left out.
    """
    found = []
    for argument in args:
        path = argument.partition("=")[2] if argument.startswith("-") else argument
        if os.path.isabs(path) and os.path.exists(path) and not _is_hidden_at_home(path):
            found.append(path)
    return found


def _is_hidden_at_home(path: str) -> bool:
    real = os.path.realpath(path)
    return any(real == home or real.startswith(os.path.join(home, ".")) for home in home_folders())


def file_view(
    folder: Path, home: Path, project: Path, copy: Path, working: Path | None, allowed: Iterable[str]
) -> FileView:
    """Return the files that a run sees.

    Args:
        folder: its scratch folder.
        home: its home folder, in ``folder``.
        project: the project's folder.
        copy: the project's copy, in ``folder``.
        working: its working directory, if that is outside the project.
        allowed: paths that the user has made readable.

    """
    configured = [path for path in _configured_caches() if os.path.isdir(path)]
    return FileView(
        folder=str(folder),
        project=(str(project), str(copy)),
        homes=tuple(home_folders()),
        private=tuple(_private_paths()),
        readable=tuple(map(os.path.abspath, allowed)),
        caches=(*_place_caches(home), *((path, os.path.realpath(path)) for path in configured)),
        working=None if working is None else str(working),
    )


def link_into_home(home: Path, allowed: Iterable[str]) -> None:
    """Link the readable paths of the user's home folder into a run's, where ``~`` finds them."""
    user = os.path.realpath(os.path.expanduser("~"))
    for path in map(os.path.realpath, allowed):
        link = home / os.path.relpath(path, user)
        if path != user and _within(path, user) and not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)


_QUOTED = re.compile(r"""(['"])(.+?)\1""")


def withheld_path(
    message: str, project: Path, start: str, copy: Path, home: Path, allowed: Iterable[str]
) -> str | None:
    """Return the path in an error message that exists, and that a run could not see; None if there is none.

    Args:
        message: the message of the exception.
        project: the project's folder.
        start: the working directory, relative to the project or absolute.
        copy: the project's copy.
        home: the run's home folder.
        allowed: paths that the user has made readable.

    """
    covered = [*home_folders(), "/tmp", "/var/tmp", "/run"]
    for _, quoted in _QUOTED.findall(message):
        within = os.path.relpath(quoted, copy) if _within(quoted, str(copy)) else os.path.join(start, quoted)
        if _within(quoted, str(home)):
            within = os.path.join(os.path.expanduser("~"), os.path.relpath(quoted, home))
        path = os.path.realpath(project / within)
        is_visible = any(_within(path, os.path.realpath(each)) for each in (str(project), *allowed))
        if os.path.exists(path) and not is_visible and any(_within(path, folder) for folder in covered):
            return path
    return None


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
