"""Audio."""

# https://docs.pytorch.org/audio/stable/torchaudio.html
def load(uri, *args, **kwargs) -> tuple[OnCPU, int]: ...
