"""Run one training script and write down what it did.  Needs torch and the standard library, nothing else.

This file travels to the script's own interpreter, where devfix need not be installed::

    python probe.py --report run.json --device sim --simulator DIR -- train.py --epochs 1
    python probe.py --serve           # requests on stdin, answers on stdout: runs fork from a process that has torch

``--device cpu`` hides accelerators; ``sim`` simulates one (``--simulator`` names the package's folder);
``unchecked`` simulates one that never complains; ``cuda`` is a real one, without TF32 and with random numbers that are
drawn on the CPU.  Random numbers of a simulated
device come from the CPU's stream, so that losses compare bit for bit.

The report is a JSON object; its keys are the fields of ``devfix.verify.Run``.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib.util
import inspect
import json
import os
import random
import re
import resource
import runpy
import sys
import time
import traceback
import types
from typing import Any

#: Message families of device bugs, old and new, by family name.  One match is enough.
DEVICE_MESSAGES: dict[str, str] = {
    "same-device": r"[Ee]xpected all tensors to be on the same device|expected self and mask to be on the same device"
    r"|Expected inputs to be on same device|self, index and source expected to be in the same device"
    r"|should be on the same device|must be on the same device|to be on the same device|have the same device",
    "same-device-type": r"to have the same device type|same device type|all be on the same device",
    "index": r"indices should be either on (cpu|\w+) or on the same device",
    "recurrent": r"tensors are not at the same device",
    "conv-type": r"(Input|weight) type \((torch\.cuda\.\w+|torch\.\w+)\) and (weight|bias) type .* should be the same",
    "legacy": r"Expected object of (device type|backend|type) |[Ee]xpected type torch\.(cuda\.)?\w+ but got",
    "numpy": r"can't convert .*device type tensor to numpy|can't convert CUDA tensor to numpy",
    "generator": r"Expected an? '?\w+'? device type for generator but found",
    "pack": r"'lengths' argument should be a 1D CPU int64 tensor",
    "pin": r"cannot pin '?torch\.(cuda|mps|xpu)",
    "grad": r"assign a gradient (with device type|located on device)",
    "engine": r"returned an invalid gradient at index \d+ - expected device",
    "parallel": r"module must have its parameters and buffers on device|one of them on device"
    r"|parameters on different devices",
    "foreach": r"Tensors of the same index must be on the same device",
    "fused": r"(fused|capturable)=True,? (requires all|params and state_steps)",
    "load": r"Attempting to deserialize object on (a )?\w+ device",
    "rng-state": r"RNG state must be a torch\.(cuda\.)?ByteTensor",
    "split": r"expected tensor_indices_or_sections to be on cpu",
    "value": r"expected device \S+ but got device \S+ for value tensor|too many CPU scalars to non-CPU kernel",
    "ordinal": r"invalid device ordinal|Invalid device id",
    "absent": r"Torch not compiled with \w+ enabled|No CUDA GPUs are available|Found no NVIDIA driver"
    r"|not linked with support for \w+ devices|type torch\.cuda\.\w+ not available"
    r"|Cannot access accelerator device when none is available|Torch not linked with",
}

_SEED = 0
_MAX_LOSSES = 200_000
_OWN_FILE = os.path.abspath(__file__)


def device_family(text: str) -> str | None:
    """The family of a device error's message; None if it is no device error.

    A type clash that names no device (``float`` against ``half``) is not one.
    """
    for family, pattern in DEVICE_MESSAGES.items():
        found = re.search(pattern, text)
        if found and not (family == "conv-type" and text.count("torch.cuda.") != 1):
            return family
    return None


class _EnoughSteps(BaseException):
    """The number of optimizer steps asked for is done."""


class Recorder:
    """What the script does, noted from inside its process."""

    def __init__(self, max_steps: int | None) -> None:
        self.max_steps = max_steps
        self.losses: list[float] = []
        self.grad_losses: list[float] = []
        self.steps = 0
        self.ended_early = False
        self.optimizers: list[Any] = []
        self.trained: dict[int, Any] = {}

    def install(self) -> None:
        """Hook backward passes, optimizers, loss scaling, data loaders and the compiler."""
        self._hook_backward()
        self._hook_scaler()
        self._hook_optimizers()
        _no_workers()
        _no_compiler()
        _one_implementation()

    def _note(self, roots: Any, into: list[float]) -> None:
        import torch

        for root in (roots,) if isinstance(roots, torch.Tensor) else roots:
            if isinstance(root, torch.Tensor) and root.numel() == 1 and len(into) < _MAX_LOSSES:
                value = getattr(root, "_devfix_unscaled", None)
                into.append(float(root.detach().reshape(())) if value is None else value)

    def _hook_backward(self) -> None:
        import torch

        real_backward, real_grad = torch.autograd.backward, torch.autograd.grad

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            self._note(tensors, self.losses)
            return real_backward(tensors, *args, **kwargs)

        def grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            self._note(outputs, self.grad_losses)
            return real_grad(outputs, *args, **kwargs)

        torch.autograd.backward = backward
        torch.autograd.grad = grad

    def _hook_scaler(self) -> None:
        """A scaled loss is recorded as what it was before scaling."""
        import torch

        scaler: Any = torch.amp.GradScaler
        real = scaler.scale

        def scale(this: Any, outputs: Any) -> Any:
            scaled = real(this, outputs)
            if isinstance(outputs, torch.Tensor) and outputs.numel() == 1 and scaled is not outputs:
                scaled._devfix_unscaled = float(outputs.detach().reshape(()))
            return scaled

        scaler.scale = scale

    def _hook_optimizers(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
            if all(optimizer is not known for known in self.optimizers):
                self.optimizers.append(optimizer)
            self.steps += 1
            if self.steps <= 3:
                self._note_trained()
            if self.max_steps is not None and self.steps >= self.max_steps:
                self.ended_early = True
                raise _EnoughSteps

        register_optimizer_step_post_hook(after_step)

    def _note_trained(self) -> None:
        """Parameters that have a gradient now, whether or not an optimizer holds them."""
        from torch.nn import Parameter

        for found in gc.get_objects():
            if type(found) is Parameter and found.grad is not None:
                self.trained.setdefault(id(found), found)

    def results(self) -> dict[str, Any]:
        """Losses, steps and parameters as JSON values."""
        held: dict[int, Any] = {}
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    held.setdefault(id(parameter), parameter)
        forgotten = [list(parameter.shape) for key, parameter in self.trained.items() if key not in held]
        return {
            "losses": self.losses or self.grad_losses,
            "steps": self.steps,
            "ended_early": self.ended_early,
            "parameters": len(held),
            "forgotten": forgotten,
            "digest": _digest(held.values()) if held else None,
        }


def _digest(tensors: Any) -> str:
    """SHA-256 over the bytes of tensors, in order."""
    import torch

    total = hashlib.sha256()
    with torch.no_grad():
        for tensor in tensors:
            host = tensor.detach().cpu().contiguous()
            total.update(str((tuple(host.shape), host.dtype)).encode())
            total.update(bytes(host.reshape(-1).view(torch.uint8).numpy()) if host.numel() else b"")
    return total.hexdigest()


def _no_workers() -> None:
    """Data loaders work in this process: worker processes would not see the simulated device."""
    from torch.utils.data import DataLoader

    real: Any = DataLoader.__init__
    signature = inspect.signature(real)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs).arguments
        extra = given.pop("kwargs", {})
        for name in ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            given.pop(name, None)
        real(**given, **extra)

    loader: Any = DataLoader
    loader.__init__ = init


def _no_compiler() -> None:
    import torch

    def as_it_is(model: Any = None, **_: Any) -> Any:
        return (lambda function: function) if model is None else model

    library: Any = torch
    library.compile = as_it_is
    library.nn.Module.compile = lambda self, *_, **__: None


def _one_implementation() -> None:
    """Optimizers default to their multi-tensor implementation on accelerators and to a loop on the CPU.

    The two round differently for some (NAdam), so every run takes the accelerators' default.
    """
    import torch.optim.optimizer as optimizer

    real = optimizer._default_to_fused_or_foreach

    def default(params: Any, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
        if use_fused:
            return real(params, differentiable, use_fused)
        plain = optimizer._foreach_supported_types
        return False, not differentiable and all(each is None or type(each) in plain for each in params)

    for name, module in list(sys.modules.items()):
        if name.startswith("torch.optim") and getattr(module, "_default_to_fused_or_foreach", None) is real:
            module._default_to_fused_or_foreach = default  # type: ignore[attr-defined]


def _user_frame(error: BaseException, root: str) -> dict[str, Any] | None:
    """The deepest frame of the traceback that is in the project; failing that, the deepest outside libraries."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [
        frame
        for frame in frames
        if os.path.abspath(frame.filename).startswith(root + os.sep)
        and os.path.abspath(frame.filename) != _OWN_FILE
        and "site-packages" not in frame.filename
    ]
    if not inside:
        return None
    frame = inside[-1]
    return {"file": os.path.abspath(frame.filename), "line": frame.lineno, "function": frame.name, "code": frame.line}


def _describe(error: BaseException, root: str) -> dict[str, Any]:
    """An exception as JSON values; the device family is looked for along its causes."""
    family: str | None = None
    link: BaseException | None = error
    seen = 0
    while link is not None and family is None and seen < 10:
        family = device_family(str(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        seen += 1
    return {
        "type": type(error).__name__,
        "text": str(error)[:4000],
        "family": family,
        "frame": _user_frame(error, root),
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-8000:],
    }


def _seed() -> None:
    import torch

    random.seed(_SEED)
    torch.manual_seed(_SEED)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(_SEED)


def _load_simulator(folder: str) -> Any:
    """Import the simulator package from its folder, under a name of its own."""
    name = "devfix_simulator"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _beside(name: str) -> Any:
    """Import a file that travels with this one, under a name of its own."""
    known = f"devfix_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, os.path.join(os.path.dirname(_OWN_FILE), f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module
        spec.loader.exec_module(module)
    return sys.modules[known]


def _real_device() -> Any:
    """Make the real device comparable, from now on."""
    accelerator = _beside("accelerator")
    accelerator.settle()
    comparable = accelerator.Comparable()
    comparable.__enter__()
    return comparable


def _real_work(comparable: Any) -> dict[str, Any]:
    """What ran on the real device, and how exactly."""
    import torch

    backends: Any = torch.backends
    tf32 = backends.cuda.matmul.allow_tf32 or backends.cudnn.allow_tf32  # the script's own wish
    return {
        "device_operations": comparable.device_operations,
        "all_operations": comparable.all_operations,
        "precision": "tf32" if tf32 and comparable.precision == "float32" else comparable.precision,
        "unsupported": [f"random numbers drawn inside {name}" for name in comparable.unmatched],
    }


def _execute(script: str, arguments: list[str], as_module: bool) -> None:
    """Run the script as ``__main__``."""
    sys.argv = [script, *arguments]
    if as_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(script, run_name="__main__", alter_sys=True)
        return
    path = os.path.abspath(script)
    sys.path.insert(0, os.path.dirname(path))
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    exec(code, main.__dict__)


def probe(options: argparse.Namespace) -> dict[str, Any]:
    """Run the script as the options say and return the report."""
    if options.device != "cuda":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["PYTORCH_JIT"] = "0"  # compiled TorchScript would not see the simulated device
    import torch

    torch.set_num_threads(1)
    recorder = Recorder(options.max_steps)
    recorder.install()
    root = os.path.abspath(options.root or os.getcwd())
    report: dict[str, Any] = {"device": options.device, "torch": torch.__version__, "exception": None, "exit_code": 0}
    report["offline"] = options.offline
    comparable = _real_device() if options.device == "cuda" else None
    simulator = simulation = None
    if options.device in ("sim", "unchecked"):
        simulator = _load_simulator(options.simulator)
        simulation = simulator.Simulator(
            kind=options.kind, count=options.devices, checks=options.device == "sim", shared_random=True
        )
        simulation.__enter__()
    _seed()
    started = time.perf_counter()
    try:
        _execute(options.script, options.arguments, options.module)
    except _EnoughSteps:
        pass
    except SystemExit as stop:
        report["exit_code"] = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        if report["exit_code"] != 0 and stop.__context__ is not None:
            report["exception"] = _describe(stop.__context__, root)
    except BaseException as error:  # the script's own failure is the result
        report["exception"] = _describe(error, root)
        traceback.print_exc()
    report["wall"] = time.perf_counter() - started
    report["random"] = hashlib.sha256(bytes(torch.random.get_rng_state().numpy())).hexdigest()
    try:
        report.update(recorder.results())
    except BaseException as error:
        report["exception"] = report["exception"] or _describe(error, root)
        report.update(losses=recorder.losses, steps=recorder.steps)
    if simulator is not None and simulation is not None:
        report["unsupported"] = simulator.unsupported_used()
        report["device_operations"], report["all_operations"] = simulator.work()
        simulation.__exit__(None, None, None)
    if comparable is not None:
        comparable.__exit__(None, None, None)
        report.update(_real_work(comparable))
    report["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return report


def _write(report: dict[str, Any], path: str) -> None:
    partial = f"{path}.{os.getpid()}"
    with open(partial, "w", encoding="utf-8") as target:
        json.dump(report, target)
    os.replace(partial, path)


def parser() -> argparse.ArgumentParser:
    """The probe's command line."""
    made = argparse.ArgumentParser(
        prog="probe", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--serve", action="store_true", help="fork a run for each request on stdin")
    made.add_argument("--report", help="where to write the JSON report")
    made.add_argument("--device", choices=("cpu", "sim", "unchecked", "cuda"), default="sim")
    made.add_argument("--kind", default="cuda", help="device type that is simulated")
    made.add_argument("--devices", type=int, default=1, help="number of simulated devices")
    made.add_argument("--simulator", help="folder of the simulator package")
    made.add_argument("--max-steps", type=int, default=None, help="end the run after this many optimizer steps")
    made.add_argument("--offline", action="store_true", help="the process has no network; for the report")
    made.add_argument("--root", help="the project's folder, for finding frames of the user's code")
    made.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    made.add_argument("script", nargs="?")
    made.add_argument("arguments", nargs=argparse.REMAINDER)
    return made


def main() -> int:
    """Run one script, or serve."""
    here = os.path.dirname(_OWN_FILE)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    options = parser().parse_args()
    if options.serve:
        _beside("forkserver").serve(sys.modules[__name__], options)
        return 0
    report = probe(options)
    _write(report, options.report)
    return 1 if report["exception"] else int(report["exit_code"])


if __name__ == "__main__":
    sys.exit(main())
