"""Roles of functions: what runs where its caller's tensors are, and what runs on the CPU on CPU data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import PurePath
from weakref import WeakKeyDictionary

from devfix.analysis.callers.annotations import annotation_kind
from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.file_names import FileNames, names_of
from devfix.syntax.tree import SourceTree, text_of, walk

__all__ = ["Role", "role", "role_and_reason"]


class Role(Enum):
    """Where a function runs."""

    MODULE_METHOD = "method of a module"
    FUNCTION = "function or method on tensors of the caller"
    HOST = "runs on the CPU, on CPU data"
    TEST = "test or benchmark"
    SCRIPT = "part of a program that is run as a file: example, export, conversion of checkpoints"


_Function = ast.FunctionDef | ast.AsyncFunctionDef

_TEST_FOLDERS = frozenset("test tests testing unittest unittests benchmark benchmarks benchmarking bench".split())
_TEST_FILE = re.compile(r"(test_.*|.*_test|conftest|bench_.*|benchmark.*|.*_benchmark)\.py")
_SCRIPT_FOLDERS = frozenset(
    "script scripts tool tools example examples docs doc demo demos tutorials notebooks".split()
)
_SCRIPT_FILE = re.compile(
    r"(setup|conf|hubconf|convert.*|.*_convert|export.*|.*_export|.*_to_(onnx|tflite|coreml))\.py"
)

# Classes whose methods run in the workers of a data loader, or prepare its data.
_HOST_CLASS = re.compile(
    r".*(Dataset|DataModule|DataLoader|BatchSampler|Collat(or|e)|Tokenizer(Fast|Base)?|ImageProcessor|"
    r"PreProcessor|Preprocessor|DataReader)|Sampler|(Base)?Transform(d)?|MapTransform"
)
_HOST_MODULES = ("torch.utils.data.", "torchvision.datasets.")
_DEVICE_MODULES = ("torch.distributions.", "pyro.")  # their `Transform` works on tensors anywhere
# Functions that are given to a data loader or a dataset by one of these keywords
_HOST_KEYWORDS = frozenset("collate_fn worker_init_fn transform target_transform transforms batch_sampler".split())
_HOST_FUNCTION = re.compile(
    r"(.*_)?collate(_.*|r)?|worker_init.*|.*_worker_init|_*(plot|imshow|visuali[sz]e|show_images?|save_(image|video|gif|wav|audio)s?|"
    r"load_(image|audio|video|wav|json|csv|data|dataset)s?|read_(image|audio|video|wav|json|csv|file)s?|"
    r"tokeni[sz]e|download|parse_args?|get_args|argparser|export|to_onnx)(_.*|s)?|.*_to_(pil|numpy|onnx)"
)
# Names that data loading shares with work on the accelerator
_MAYBE_HOST_FUNCTION = re.compile(r"_*(preprocess|augment|normalize_image|draw|render|evaluate_numpy|to_numpy)(_.*|s)?")
_DATA_PLACE = re.compile(
    r"(data|datas|data_?io|.*_prepare|prepare_.*|datasets?|data_?loaders?|loaders?|data_?utils|data_?(pre)?process(ing|or)?|pre_?process(ing|ors?)?|"
    r"transforms|tokeni[sz]ers?|vocab|plotting|visuali[sz](ation|ers?)|vis(ual)?|io|audio_?utils|"
    r"image_?utils|plot(_utils)?|export(ers?)?|onnx|tflite|coreml|convert(ers?)?)"
)
# Places where tensors are data on their way to a loader, whatever annotations say
_LOADING_PLACE = re.compile(r"(data_?)?loaders?|data_?sets?_transforms|data_?pipes?")
_TRANSFORMS_PLACE = re.compile(r"transforms")
# Libraries that work in host memory
_HOST_LIBRARIES = frozenset(
    "matplotlib seaborn plotly visdom PIL cv2 skimage imageio librosa soundfile sklearn pandas nibabel SimpleITK h5py "
    "lmdb tokenizers sentencepiece nltk onnx onnxruntime tensorflow coremltools jax flax pyvista trimesh rdkit "
    "scipy pycocotools albumentations decord av".split()
)
# Methods that callers reach without their names
_CALLED_BY_ALL = frozenset({"__init__", "__call__", "forward"})
# Names of what a transform gets
_IMAGES = frozenset("image images img imgs pic sample".split())
_DEVICE_WORDS = frozenset({"device", "cuda", "to_device", "get_device"})


def role(function: _Function, owner: ast.ClassDef | None, tree: SourceTree, root: str = "") -> Role:
    """Return the role of a function; the arguments are those of :func:`role_and_reason`."""
    return role_and_reason(function, owner, tree, root)[0]


def role_and_reason(
    function: _Function, owner: ast.ClassDef | None, tree: SourceTree, root: str = ""
) -> tuple[Role, str]:
    """Return the role of a function and what shows it.

    Args:
        function: a function or method of the file.
        owner: the class of a method.
        tree: the file.
        root: the folder of the project; folders above it say nothing.

    """
    names = names_of(tree)
    place = _place(tree.path, root)
    reason = _test_reason(place, function, owner)
    if reason:
        return Role.TEST, reason
    reason = _exporter_reason(place, function, owner)
    if reason:
        return Role.HOST, reason
    reason = (
        _class_reason(owner, names)
        or _given_reason(function, owner, tree)
        or _transform_reason(function, owner)
        or _constructor_reason(function, owner, tree)
    )
    if reason:
        return Role.HOST, reason
    is_module = owner is not None and names.is_module(owner)
    reason = _function_reason(function, place, names, is_module)
    if reason:
        return Role.HOST, reason
    reason = "named `main`" if function.name == "main" and owner is None else _script_reason(place)
    if reason:
        return Role.SCRIPT, reason
    return (Role.MODULE_METHOD, "method of a module") if is_module else (Role.FUNCTION, "")


def _place(path: str, root: str) -> PurePath:
    """Return the path below the root; without one, the file and three folders."""
    place = PurePath(path)
    if root and place.is_relative_to(root):
        return place.relative_to(root)
    return PurePath(*place.parts[-4:]) if place.is_absolute() else place


def _test_reason(place: PurePath, function: _Function, owner: ast.ClassDef | None) -> str:
    folder = next((part for part in place.parts[:-1] if part in _TEST_FOLDERS), "")
    if folder:
        return f"in folder `{folder}`"
    if _TEST_FILE.fullmatch(place.name):
        return f"in file `{place.name}`"
    if function.name.startswith("test_") or (owner is not None and owner.name.startswith("Test")):
        return "named like a test"
    return ""


def _exporter_reason(place: PurePath, function: _Function, owner: ast.ClassDef | None) -> str:
    """Return which name shows that a model is traced for ONNX, with made-up inputs on the CPU."""
    names = (place.name, function.name, owner.name if owner is not None else "")
    return next((f"traced for ONNX: `{name}`" for name in names if "onnx" in name.lower()), "")


def _script_reason(place: PurePath) -> str:
    folder = next((part for part in place.parts[:-1] if part in _SCRIPT_FOLDERS), "")
    if folder:
        return f"in folder `{folder}`"
    return f"in file `{place.name}`" if _SCRIPT_FILE.fullmatch(place.name) else ""


def _class_reason(owner: ast.ClassDef | None, names: FileNames) -> str:
    """Return which base shows that a class prepares data."""
    if owner is None or names.derives_from_module(owner):
        return ""
    for each in names.lineage(owner):
        for base in each.bases:
            full = names.full_name(base)
            last = full.rpartition(".")[2]
            if full.startswith(_HOST_MODULES) or (_HOST_CLASS.fullmatch(last) and not full.startswith(_DEVICE_MODULES)):
                return f"class derives from `{last}`"
    return f"class is named `{owner.name}`" if _HOST_CLASS.fullmatch(owner.name) else ""


def _transform_reason(function: _Function, owner: ast.ClassDef | None) -> str:
    """Return what shows that instances of a plain class are called with one image: transforms of a dataset."""
    if owner is None or function.name != "__call__" or [text_of(base) for base in owner.bases] not in ([], ["object"]):
        return ""
    arguments = [each.arg for each in function.args.args[1:]]
    return f"called with one `{arguments[0]}`" if len(arguments) == 1 and arguments[0] in _IMAGES else ""


def _constructor_reason(function: _Function, owner: ast.ClassDef | None, tree: SourceTree) -> str:
    """Return what shows that only constructors call a method: no module has been moved then."""
    if owner is None or function.name in _CALLED_BY_ALL:
        return ""
    callers = _calling(tree).get(function.name, set())
    return "called by constructors alone" if callers == {"__init__"} else ""


_callers: WeakKeyDictionary[SourceTree, dict[str, set[str]]] = WeakKeyDictionary()


def _calling(tree: SourceTree) -> dict[str, set[str]]:
    """Return the names of the functions that call each method of the file."""
    if tree not in _callers:
        found: dict[str, set[str]] = {}
        _callers[tree] = found
        for node in tree.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                around = next((each for each in tree.ancestors(node) if isinstance(each, _Function)), None)
                found.setdefault(node.func.attr, set()).add(around.name if around is not None else "")
    return _callers[tree]


_given: WeakKeyDictionary[SourceTree, frozenset[str]] = WeakKeyDictionary()


def _given_reason(function: _Function, owner: ast.ClassDef | None, tree: SourceTree) -> str:
    if tree not in _given:
        _given[tree] = _with_helpers(frozenset(_given_names(tree)), names_of(tree))
    name = owner.name if owner is not None and function.name == "__call__" else function.name
    return f"`{name}` is given to a data loader or dataset" if name in _given[tree] else ""


def _with_helpers(given: frozenset[str], names: FileNames) -> frozenset[str]:
    """Return names of functions with those of the private ones that only these functions use."""
    users: dict[str, set[str]] = {}
    for function, _ in names.all_functions() if given else ():
        for node in walk(function):
            used = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if used.startswith("_") and not used.startswith("__") and used != function.name:
                users.setdefault(used, set()).add(function.name)
    size = 0
    while size != len(given):
        size = len(given)
        given |= {name for name, using in users.items() if using <= given}
    return given


def _given_names(tree: SourceTree) -> Iterator[str]:
    """Yield the names of functions and classes that data loaders, datasets and ``Compose`` receive."""
    for node in tree.nodes:
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg in _HOST_KEYWORDS:
                yield from _callee_names(keyword.value)
        func = node.func
        if (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) == "Compose":
            for argument in node.args:
                yield from _callee_names(argument)
        match func:
            case ast.Attribute(value=ast.Attribute(attr="transforms"), attr="append" | "insert"):
                for argument in node.args:
                    yield from _callee_names(argument)


def _callee_names(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Call(func=func, args=args):
            yield from _callee_names(func)
            for argument in args[:1]:  # `partial(collate, pad=0)`
                yield from _callee_names(argument)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _callee_names(element)


def _function_reason(function: _Function, place: PurePath, names: FileNames, is_module: bool) -> str:
    if not (is_module and function.name in ("__init__", "forward")):
        if _HOST_FUNCTION.fullmatch(function.name):
            return f"named `{function.name}`"
        library = "" if is_module else _host_library(function, names)  # a module computes with its weights, too
        if library:
            return f"uses {library}"
    if _speaks_of_devices(function):
        return ""
    parts = (place.stem, *place.parts[-2:-4:-1])
    part = next((part for part in parts if _LOADING_PLACE.fullmatch(part.lower())), "")
    if part and not is_module:
        return f"in `{part}`"
    part = next((part for part in parts if _DATA_PLACE.fullmatch(part.lower())), "")
    if part and not is_module and "augment" in function.name.lower():
        return f"augments data in `{part}`"
    if _has_tensors(function, names):
        return ""
    if not is_module and _MAYBE_HOST_FUNCTION.fullmatch(function.name):
        return f"named `{function.name}`"
    pattern = _TRANSFORMS_PLACE if is_module else _DATA_PLACE
    part = next((part for part in parts if pattern.fullmatch(part.lower())), "")
    if part:
        return f"in `{part}`"
    if is_module:
        return ""
    return "uses NumPy and not PyTorch" if _uses_numpy_only(function, names) else ""


def _host_library(function: _Function, names: FileNames) -> str:
    """Return a library of the host that the function calls."""
    local = names.names_from(_HOST_LIBRARIES)
    if not local:
        return ""
    for node in walk(function):
        if isinstance(node, ast.Call):
            func: ast.expr = node.func
            while isinstance(func, ast.Attribute):
                func = func.value
            if isinstance(func, ast.Name) and func.id in local:
                return local[func.id]
    return ""


def _uses_numpy_only(function: _Function, names: FileNames) -> bool:
    roots = {
        names.imported[node.id].partition(".")[0]
        for node in walk(function)
        if isinstance(node, ast.Name) and node.id in names.imported
    }
    return "numpy" in roots and "torch" not in roots


def _has_tensors(function: _Function, names: FileNames) -> bool:
    """Return whether an argument is annotated as a tensor and not as an array."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    kinds = [annotation_kind(each.annotation, names).kinds for each in arguments if each.annotation is not None]
    return any(Kind.TENSOR in each and Kind.ARRAY not in each for each in kinds)


def _speaks_of_devices(function: _Function) -> bool:
    for node in walk(function):
        if isinstance(node, ast.Attribute) and node.attr in _DEVICE_WORDS:
            return True
        if isinstance(node, ast.arg) and node.arg in _DEVICE_WORDS:
            return True
        if isinstance(node, ast.keyword) and node.arg in _DEVICE_WORDS:
            return True
    return False
