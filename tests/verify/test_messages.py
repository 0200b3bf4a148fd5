"""Which messages are device errors: those of semantics.md 2.5, old and new, and their neighbours that are none."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

from devfix.verify.probe.messages import DEVICE_MESSAGES, device_family

SAME = "Expected all tensors to be on the same device, but "

DEVICE_ERRORS = [
    # operators that check their arguments: PyTorch >= 2.8, 1.11 to 2.7, 1.8 to 1.10 with its misspelling
    ("same-device", SAME + "got mat1 is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"),
    ("same-device", SAME + "found at least two devices, cpu and cuda:0! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"),
    ("same-device", SAME + "found at least two devices, cuda:0 and cpu! (when checking arugment for argument mat2 in method wrapper_mm)"),
    ("same-device", "Expected all tensors to be on the same common device, but found at least two devices, cuda:0 and cpu!"),
    # element by element: unchanged since 1.5
    ("same-device", SAME + "found at least two devices, cuda:0 and cpu!"),
    ("same-device", SAME + "found at least two devices, mps:0 and cpu!"),
    ("same-device", "expected all tensors to be on the same device, found cuda:0 and cpu"),
    # before 1.8
    ("legacy", "Expected object of device type cuda but got device type cpu for argument #2 'mat1' in call to _th_addmm"),
    ("legacy", "Expected object of backend CUDA but got backend CPU for argument #2 'weight'"),
    ("legacy-type", "Expected object of type torch.cuda.FloatTensor but found type torch.FloatTensor for argument #2 'mat1'"),
    ("legacy-type", "expected type torch.cuda.FloatTensor but got torch.FloatTensor"),
    ("legacy-type", "Expected object of type torch.FloatTensor but found type torch.cuda.FloatTensor for argument #2 'mat2'"),
    ("legacy", "Tensor for argument #2 'weight' is on CPU, but expected it to be on GPU (while checking arguments for cudnn_batch_norm)"),
    ("same-device", "Expected tensor for argument #1 'input' to have the same device as tensor for argument #2 'weight'; but device 0 does not equal 1 (while checking arguments for cudnn_convolution)"),
    # convolutions name types
    ("conv-type", "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"),
    ("conv-type", "Input type (torch.cuda.FloatTensor) and bias type (torch.FloatTensor) should be the same"),
    ("conv-type", "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor"),
    ("conv-type", "Input type (MPSFloatType) and weight type (torch.FloatTensor) should be the same"),
    ("conv-type", "Input type (torch.FloatTensor) and weight type (torch.xpu.FloatTensor) should be the same"),
    # recurrent networks
    ("recurrent", "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at cuda:0"),
    ("recurrent", "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    # indices
    ("index", "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
    ("index", "indices should be either on cuda:0 or on the same device as the indexed tensor (cuda:0)"),
    ("same-device", "index_copy_(): self, index and source expected to be in the same device, but got (self) cuda:0 (index) cpu and (source) cpu"),
    ("same-device", "put_(): self, index and source expected to be in the same device, but got self.device = cuda:0, index.device = cpu, and source.device = cpu"),
    ("same-device", "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"),
    ("same-device", "masked_fill_: Expected inputs to be on same device"),
    ("value", "expected device cuda:0 but got device cpu for value tensor"),
    ("value", 'Attempted to set the storage of a tensor on device "cuda:0" to a storage on different device "cpu".'),
    ("value", "Trying to pass too many CPU scalars to non-CPU kernel!"),
    ("split", "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"),
    # kernels with words of their own
    ("same-device-type", "Expected query, key, and value to have the same device type, but got query.device: cuda:0 key.device: cpu and value.device: cpu instead."),
    ("same-device-type", "torch.searchsorted(): boundaries and input value tensors should have same device type, but got boundaries tensor device type cpu and input value tensor device type cuda"),
    ("same-device", "grid_sampler(): expected input and grid to be on same device, but input is on cuda:0 and grid is on cpu"),
    ("same-device", "stft input and window must be on the same device but got self on cuda:0 and window on cpu"),
    ("same-device", "torch.meshgrid: meshgrid expects all tensors to have the same device"),
    ("same-device", "weight_norm: expected v and g to be on the same device, but v is on cuda:0 and g is on cpu"),
    ("same-device", "linalg.solve: Expected A and B to be on the same device, but found A on cuda:0 and B on cpu instead."),
    ("same-device-type", "X1 and X2 must have the same device type. X1: cuda X2: cpu"),
    ("same-device-type", "Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType (while checking arguments for inner())"),
    ("same-device", "expected device cuda:0 but found cpu"),
    ("same-device", 'iter.device(arg).is_cuda() INTERNAL ASSERT FAILED at "Loops.cuh":118, please report a bug to PyTorch. argument 1: expected a CUDA device but found cpu'),
    ("same-device", "Expected data.get_device() == lengths_value.get_device() to be true, but got false."),
    # out=
    ("out", "Expected out tensor to have device cuda:0, but got cpu instead"),
    ("out", "multi_dot(): expected out tensor to be on device cuda:0 but got cpu"),
    ("out", "device type cpu does not match device type of out parameter (cuda)"),
    ("out", "expected device 'cuda:0' but got 'cpu' for values output"),
    # what must be in the CPU's memory
    ("numpy", "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."),
    ("numpy", "can't convert CUDA tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."),
    ("numpy", "can't convert mps:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."),
    ("cpu-only", "apply_ is only implemented on CPU tensors"),
    ("cpu-only", "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually."),
    ("pack", "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"),
    ("pin", "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"),
    ("rng-state", "RNG state must be a torch.ByteTensor"),
    ("rng-state", "RNG state must be a torch.cuda.ByteTensor"),
    # generators
    ("generator", "Expected a 'cuda' device type for generator but found 'cpu'"),
    ("generator", "Expected a 'cpu' device type for generator but found 'cuda'"),
    ("generator", "Expected an 'mps' device type for generator but found 'cpu'"),
    # gradients, optimizers, parallel modules
    ("grad", "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'. Please ensure that the gradient and the tensor are on the same device"),
    ("grad", "assign a gradient located on device cpu to a tensor located on device cuda:0"),
    ("engine", "Function AddmmBackward0 returned an invalid gradient at index 1 - expected device cuda:0 but got cpu"),
    ("foreach", "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and float32/64 notwithstanding"),
    ("fused", "`fused=True` requires all the params to be floating point Tensors of supported devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu'] but torch.float32 and meta"),
    ("fused", "If capturable=True, params and state_steps must be on supported devices: ['cuda', 'xpu']."),
    ("group", "No backend type associated with device type cpu"),
    ("group", "Tensors must be CUDA and dense"),
    ("parallel", "DistributedDataParallel device_ids and output_device arguments only work with single-device GPU modules"),
    ("parallel", "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one of them on device: cpu"),
    ("parallel", "DistributedDataParallel's input module must be on the same type of devices, but input module parameters are on different devices"),
    # files and machines
    ("load", "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."),
    ("load", "Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 1. Please use torch.load with map_location to map your storages to an existing device."),
    ("load", "Attempting to deserialize object on MPS device but torch.backends.mps.is_available() is False."),
    ("ordinal", "CUDA error: invalid device ordinal"),
    ("ordinal", "Invalid device id"),
    ("absent", "Torch not compiled with CUDA enabled"),
    ("absent", "No CUDA GPUs are available"),
    ("absent", "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver"),
    ("absent", "type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled."),
    ("absent", "PyTorch is not linked with support for mps devices"),
]  # fmt: skip

OTHERS = [
    "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
    "expected scalar type Half but found Float",
    "expected m1 and m2 to have the same dtype, but got: float != double",
    "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    "Input type (float) and bias type (c10::Half) should be the same",
    "Input type (double) and weight type (float) should be the same",
    "Input type (MPSFloatType) and weight type (MPSHalfType) should be the same",
    "expected type torch.FloatTensor but got torch.DoubleTensor",
    "Expected object of type torch.cuda.FloatTensor but found type torch.cuda.DoubleTensor for argument #4 'mat1'",
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "CUDA error: device-side assert triggered",
    "can't convert np.ndarray of type numpy.object_",
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    "Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument",
    "Function MulBackward0 returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]",
    "assigned grad has data of a different type",
    "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    "index 5 is out of bounds for dimension 0 with size 3",
    "[Errno 19] No such device: 'train.csv'",
    "element 0 of tensors does not require grad and does not have a grad_fn",
    "can't optimize a non-leaf Tensor",
    "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #1 'self'",
    "Expected object of scalar type Float but got scalar type Double for argument #2 'mat1' in call to _th_mm",
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor",
]  # fmt: skip


@pytest.mark.parametrize(("family", "text"), DEVICE_ERRORS)
def test_device_errors_are_recognised(family: str, text: str) -> None:
    assert device_family(text) == family


@pytest.mark.parametrize("text", OTHERS)
def test_other_errors_are_not(text: str) -> None:
    assert device_family(text) is None


def test_every_family_has_an_example() -> None:
    assert {family for family, _ in DEVICE_ERRORS} == set(DEVICE_MESSAGES)
