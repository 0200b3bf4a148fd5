"""Nested, complex and quantized tensors: no finding in right programs, one in each broken one."""

from __future__ import annotations

import pytest
from device_programs import Program, check_broken, check_right

RIGHT = [
    Program(
        "nested-moved",
        """
nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)]).cuda()
padded = torch.nested.to_padded_tensor(nested, 0.0)
padded + torch.ones(2, 4, 3, device="cuda")
""",
    ),
    Program(
        "nested-device-argument",
        """
nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], device="cuda")
layer = nn.Linear(3, 5).cuda()
out = layer(nested).to_padded_tensor(0.0)
out * torch.ones(5, device="cuda")
""",
    ),
    Program(
        "nested-of-views",
        """
parts = [torch.ones(2, 3, device="cuda"), torch.ones(4, 3, device="cuda")]
nested = torch.nested.as_nested_tensor(parts)
for part in nested.unbind():
    part + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "nested-of-lists",
        """
nested = torch.nested.nested_tensor([[1.0, 2.0], [3.0]], device="cuda")
torch.nested.to_padded_tensor(nested, 0.0) + torch.ones(2, 2, device="cuda")
""",
    ),
    Program(
        "nested-in-a-loop",
        """
parts = []
for n in range(3):
    parts.append(torch.ones(n + 1, 2).cuda())
nt = torch.nested.nested_tensor(parts)
nt.to_padded_tensor(0.0) + torch.ones(2, device="cuda")
copies = torch.nested.nested_tensor([p.cpu() for p in parts]).to("cuda")
copies.to_padded_tensor(0.0) + nt.to_padded_tensor(0.0)
nt.is_nested and nt.size(0)
(nt + nt).contiguous().values() + torch.ones(1, device="cuda")
nt.numel() * torch.ones(3)
""",
    ),
    Program(
        "complex",
        """
x = torch.ones(3, device="cuda").to(torch.complex64)
y = torch.randn(3, dtype=torch.cfloat, device="cuda")
z = x.to(torch.cfloat) * y.cfloat() if hasattr(y, "cfloat") else x
z = z.resolve_conj().real + torch.ones(3, device="cuda")
torch.real(y) + torch.imag(y) + torch.view_as_real(y)[:, 0] + z
y.imag = torch.zeros(3, device="cuda")
y * torch.tensor(1 + 2j) * 1j
""",
    ),
    Program(
        "complex-parts",
        """
signal = torch.ones(8, device="cuda")
spectrum = torch.fft.rfft(signal)
window = torch.ones(5, device="cuda")
both = spectrum.real * window + spectrum.imag * window + spectrum.abs() + spectrum.angle() + spectrum.conj().real
torch.view_as_real(spectrum) + torch.ones(5, 2, device="cuda")
""",
    ),
    Program(
        "complex-made",
        """
real, imag = torch.ones(3, device="cuda"), torch.zeros(3, device="cuda")
z = torch.complex(real, imag)
z = z * 1j + torch.polar(real, imag) + torch.view_as_complex(torch.ones(3, 2, device="cuda"))
z.real = torch.ones(3, device="cuda")
torch.tensor(2j) * z
""",
    ),
    Program(
        "complex-stft",
        """
window = torch.hann_window(16, device="cuda")
audio = torch.ones(64, device="cuda")
spectrum = torch.stft(audio, 16, window=window, return_complex=True)
torch.istft(spectrum, 16, window=window) + torch.ones(64, device="cuda")
""",
    ),
    Program(
        "fake-quantized",
        """
x = torch.ones(3, device="cuda")
scale = torch.tensor([0.1], device="cuda")
zero_point = torch.tensor([0], dtype=torch.int32, device="cuda")
torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255) + x
torch.fake_quantize_per_tensor_affine(x, scale, zero_point, 0, 255) + x
""",
    ),
    Program(
        "quantized-on-the-cpu",
        """
model = nn.Linear(3, 3).cuda()
out = model(torch.ones(2, 3, device="cuda")).detach().cpu()
quantized = torch.quantize_per_tensor(out, 0.1, 0, torch.quint8)
quantized.dequantize().cuda() + torch.ones(3, device="cuda")
quantized.int_repr().numpy()
""",
    ),
    Program(
        "scale-of-quantized",
        """
q = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
x = torch.ones(3, device="cuda") / q.q_scale() + q.q_zero_point()
""",
    ),
    Program(
        "dynamic",
        """
import copy

model = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).cuda()
small = torch.ao.quantization.quantize_dynamic(copy.deepcopy(model).cpu(), {nn.Linear}, dtype=torch.qint8)
small(torch.ones(2, 3))
model(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "quant-stub",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.linear = nn.Linear(3, 3)
        self.dequant = torch.ao.quantization.DeQuantStub()
        self.add = torch.ao.nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.dequant(self.add.add(self.linear(self.quant(x)), x))


net = Net().cuda()
net(torch.ones(2, 3, device="cuda"))
net.qconfig = torch.ao.quantization.get_default_qat_qconfig("fbgemm")
torch.ao.quantization.prepare_qat(net.train(), inplace=True)
net.cuda()
net(torch.ones(2, 3, device="cuda")).sum().backward()
net.cpu().eval()
net(torch.ones(2, 3))
""",
    ),
]

BROKEN = [
    Program(
        "nested-plus",
        """
nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
padded = torch.nested.to_padded_tensor(nested, 0.0)
padded + torch.ones(2, 4, 3, device="cuda")
""",
    ),
    Program(
        "nested-method",
        """
nested = torch.nested.as_nested_tensor([torch.ones(2, 3, device="cuda")])
nested.to_padded_tensor(0.0) + torch.ones(1, 2, 3)
""",
    ),
    Program(
        "nested-unbound",
        """
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
first = nested.unbind()[0]
first * torch.ones(2, device="cuda")
""",
    ),
    Program(
        "complex-parts",
        """
spectrum = torch.fft.rfft(torch.ones(8, device="cuda"))
spectrum.abs() * torch.ones(5)
""",
    ),
    Program(
        "complex-real",
        """
z = torch.complex(torch.ones(3), torch.ones(3))
z.real + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "complex-made",
        """
torch.complex(torch.ones(3, device="cuda"), torch.zeros(3))
""",
    ),
    Program(
        "complex-rotary",
        """
freqs = torch.polar(torch.ones(4), torch.arange(4.0))
q = torch.ones(2, 4, 2, device="cuda")
torch.view_as_complex(q) * freqs
""",
    ),
    Program(
        "complex-stft",
        """
audio = torch.ones(64, device="cuda")
torch.stft(audio, 16, window=torch.hann_window(16), return_complex=True)
""",
    ),
    Program(
        "quantized",
        """
x = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
x.dequantize() + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "int-repr",
        """
x = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
x.int_repr() + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "scales-of-channels",
        """
q = torch.quantize_per_channel(torch.ones(2, 3), torch.tensor([0.1, 0.2]), torch.tensor([0, 0]), 0, torch.qint8)
torch.ones(2, device="cuda") / q.q_per_channel_scales()
""",
    ),
]


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_a_right_program_runs_and_nothing_is_reported(program):
    check_right(program)


@pytest.mark.parametrize("program", BROKEN, ids=str)
def test_a_broken_program_fails_on_its_last_line_and_is_reported(program):
    check_broken(program)
