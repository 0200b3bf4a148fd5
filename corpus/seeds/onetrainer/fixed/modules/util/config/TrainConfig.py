from dataclasses import dataclass


@dataclass
class TrainConfig:
    train_device: str
    temp_device: str
    epochs: int = 2
    batches: int = 3
    batch_size: int = 8
    learning_rate: float = 1e-3
    latent_caching: bool = True
    train_text_encoder: bool = True
