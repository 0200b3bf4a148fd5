"""Objects that offload their modules: what fails when their methods are called as any caller would."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis
from devfix.syntax.tree import SourceTree

HEADER = "import torch\nfrom diffusers import FluxPipeline\nfrom torch import Tensor, nn\n"
OBJECT = """
    class Captioner:
        def __init__(self, encoder: nn.Module, decoder, device, offload_device="cpu"):
            self.device = device
            self.offload_device = offload_device
            self.encoder = encoder.to(device)
            self.decoder = decoder
"""


def _failing(text: str, reached: tuple[tuple[str, int], ...] = ()) -> list[str]:
    """Return the stripped lines on which weights on the CPU meet tensors on the accelerator."""
    source = HEADER + textwrap.dedent(text)
    found = analysis.analyse_library("/lib/lib.py", {"/lib/lib.py": source}.get, "/lib", reached)
    assert found is not None
    mismatches = found.offloading.mismatches if found.offloading is not None else []
    assert all(mismatch.latent for mismatch in mismatches)
    points = [mismatch.point for mismatch in mismatches]
    return list(dict.fromkeys(point.tree.line(point.span.line).strip() for point in points))


USE = "y = self.encoder(images.to(self.device))"
FAILING = {
    "the second call finds the module where the first one left it": f"""
        def caption(self, images: Tensor):
            return images
        def generate(self, images: Tensor):
            {USE}
            self.encoder.to("cpu")
            return y
    """,
    "the device's name says that modules wait there": f"""
        def __call__(self, images: Tensor):
            {USE}
            self.encoder.to(self.offload_device)
            return y
    """,
    "one step leaves a module that the next one uses": f"""
        def cache(self):
            self.encoder.cpu()
        def encode(self, images: Tensor):
            {USE}
            return y
        def train(self, images: Tensor):
            self.cache()
            return self.encode(images)
    """,
    "items of unknown data are moved": """
        def train(self, loader):
            self.decoder.to("cpu")
            for images in loader:
                self.decoder(images.to(self.device))
    """,
}


@pytest.mark.parametrize("methods", FAILING.values(), ids=FAILING.keys())
def test_a_use_behind_an_offload_fails(methods):
    failing = _failing(OBJECT + methods)

    assert failing in ([USE], ["self.decoder(images.to(self.device))"])


RIGHT = {
    "it comes back before its use": f"""
        def generate(self, images: Tensor):
            self.encoder.to(self.device)
            {USE}
            self.encoder.to("cpu")
            return y
    """,
    "it comes back after the step": f"""
        def generate(self, images: Tensor):
            {USE}
            self.encoder.to("cpu")
            y = self.decoder(y)
            self.encoder.to(self.device)
            return y
    """,
    "what runs once may leave it": f"""
        def cache_all(self, images: Tensor):
            {USE}
            self.encoder.to("cpu")
            return y
    """,
    "the caller that saves it decides what comes next": f"""
        def step(self, images: Tensor):
            {USE}
            return y
        def save(self, path):
            self.encoder.cpu()
            torch.save(self.encoder.state_dict(), path)
    """,
    "its inputs follow it": """
        def generate(self, images: Tensor):
            self.encoder.to("cpu")
            return self.encoder(images.cpu())
    """,
    "a private step has its callers": f"""
        def _encode(self, images: Tensor):
            {USE}
            self.encoder.to("cpu")
            return y
    """,
}


@pytest.mark.parametrize("methods", RIGHT.values(), ids=RIGHT.keys())
def test_an_object_that_brings_its_modules_back_is_right(methods):
    assert _failing(OBJECT + methods) == []


def test_a_method_that_a_program_calls_is_called_once():
    text = OBJECT + FAILING["the device's name says that modules wait there"]
    line = (HEADER + textwrap.dedent(text)).splitlines().index("    def __call__(self, images: Tensor):") + 1

    assert _failing(text, (("/lib/lib.py", line),)) == []


def test_a_class_that_moves_nothing_is_not_followed():
    found = analysis.analyse_library("/lib/lib.py", {"/lib/lib.py": HEADER}.get, "/lib")

    assert found is not None
    assert found.offloading is None


PIPELINE = """
    class Pipeline(FluxPipeline):
        def __call__(self, prompt):
            device = self._execution_device
            {before}
            embeds, pooled = self.encode_prompt(prompt, device=device)
            self.text_encoder.to("cpu")
            return self.transformer(embeds.to(device))
"""


def test_the_inherited_methods_of_a_pipeline_run_its_modules():
    assert _failing(PIPELINE.format(before="pass")) == ["embeds, pooled = self.encode_prompt(prompt, device=device)"]


def test_a_pipeline_that_loads_its_module_again_is_right():
    assert _failing(PIPELINE.format(before="self.text_encoder.to(device)")) == []


def test_the_type_of_a_parked_module_is_no_module():
    text = (
        OBJECT
        + """
        def generate(self, images: Tensor):
            images = images.to("cpu").to(self.decoder.dtype)
            self.decoder.cpu()
            return self.decoder(images)
    """
    )
    assert _failing(text) == []


def test_a_long_file_is_told_from_others_by_its_text():
    from devfix.analysis.callers.offloading import offloads_modules

    assert not offloads_modules(SourceTree("lib.py", "class A:\n    def f(self):\n        return self.x.cpu()\n"))
    assert offloads_modules(SourceTree("lib.py", "class A:\n    def f(self):\n        self.x.cpu()\n"))


def test_an_object_that_moves_itself_keeps_the_device():
    text = """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("scale", torch.ones(1))
                self.device = {kept}

            def to(self, *args, **kwargs):
                super().to(*args, **kwargs)
                self.device = {moved}
                return self

        class Latent(Base):
            def __init__(self, vae, unet):
                super().__init__()
                self.vae, self.unet = vae, unet

            def encode(self, x: Tensor):
                self.unet.to("cpu")
                self.vae.to(self.device)
                return self.vae.encode(x)
    """
    here, cpu = "self.scale.device", 'torch.device("cpu")'

    assert _failing(text.format(kept=here, moved=here)) == []
    assert _failing(text.format(kept=cpu, moved=cpu)) == ["return self.vae.encode(x)"]
