import math

import torch


def phase_vocoder(complex_specgrams, rate, phase_advance):
    """Given a STFT tensor, speed up in time without modifying pitch by a factor of ``rate``.

    Args:
        complex_specgrams (Tensor): Dimension of `(channel, freq, time)`, complex
        rate (float): Speed-up factor
        phase_advance (Tensor): Expected phase advance in each bin. Dimension of (freq, 1)
    """
    time_steps = torch.arange(0, complex_specgrams.size(-1), rate, device=complex_specgrams.device)
    alphas = time_steps % 1.0
    phase_0 = complex_specgrams[..., :1].angle()
    complex_specgrams = torch.nn.functional.pad(complex_specgrams, [0, 2])

    complex_specgrams_0 = complex_specgrams.index_select(-1, time_steps.long())
    complex_specgrams_1 = complex_specgrams.index_select(-1, (time_steps + 1).long())
    angle_0, angle_1 = complex_specgrams_0.angle(), complex_specgrams_1.angle()
    norm_0, norm_1 = complex_specgrams_0.abs(), complex_specgrams_1.abs()

    phase = angle_1 - angle_0 - phase_advance
    phase = phase - 2 * math.pi * torch.round(phase / (2 * math.pi))
    phase = phase + phase_advance
    phase = torch.cat([phase_0, phase[..., :-1]], dim=-1)
    phase_acc = torch.cumsum(phase, -1)
    mag = alphas * norm_1 + (1 - alphas) * norm_0
    return torch.polar(mag, phase_acc)
