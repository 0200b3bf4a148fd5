from .xLSTM import xLSTM
