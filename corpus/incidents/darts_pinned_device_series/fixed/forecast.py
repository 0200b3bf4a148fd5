import numpy as np

from forecasting.torch_forecasting_model import TorchForecastingModel

rng = np.random.default_rng(436)
air = np.sin(np.arange(30) / 3.0) + 0.1 * rng.standard_normal(30)

model = TorchForecastingModel(n_epochs=2)
model.fit(air)
