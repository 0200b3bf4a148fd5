import math
from typing import Optional

import torch
from torch import Tensor

from . import functional as F

__all__ = ['Spectrogram', 'TimeStretch']


class Spectrogram(torch.nn.Module):
    __constants__ = ['n_fft', 'hop_length']

    def __init__(self, n_fft: int = 16, hop_length: Optional[int] = None) -> None:
        super(Spectrogram, self).__init__()
        self.n_fft = n_fft
        self.hop_length = hop_length if hop_length is not None else n_fft // 2
        self.register_buffer('window', torch.hann_window(n_fft))

    def forward(self, waveform: Tensor) -> Tensor:
        frames = waveform.unfold(-1, self.n_fft, self.hop_length) * self.window
        return torch.fft.rfft(frames).transpose(-1, -2)


class TimeStretch(torch.nn.Module):
    r"""Stretch stft in time without modifying pitch for a given rate.

    Args:
        hop_length (int or None, optional): Length of hop between STFT windows.
        n_freq (int, optional): number of filter banks from stft.
        fixed_rate (float or None, optional): rate to speed up or slow down by.
    """
    __constants__ = ['fixed_rate']

    def __init__(self, hop_length: Optional[int] = None, n_freq: int = 9, fixed_rate: Optional[float] = None) -> None:
        super(TimeStretch, self).__init__()

        self.fixed_rate = fixed_rate
        n_fft = (n_freq - 1) * 2
        hop_length = hop_length if hop_length is not None else n_fft // 2
        self.phase_advance = torch.linspace(0, math.pi * hop_length, n_freq)[..., None]

    def forward(self, complex_specgrams: Tensor, overriding_rate: Optional[float] = None) -> Tensor:
        assert complex_specgrams.is_complex(), "complex_specgrams should be a complex tensor"
        rate = self.fixed_rate if overriding_rate is None else overriding_rate
        if rate is None:
            raise ValueError("If no fixed_rate is specified, must pass a valid rate to the forward method.")
        if rate == 1.0:
            return complex_specgrams
        return F.phase_vocoder(complex_specgrams, rate, self.phase_advance)
