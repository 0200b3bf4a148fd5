"""Losses for segmentation."""

# https://docs.monai.io/en/stable/losses.html
class DiceLoss(Loss):
    def __call__(self, input: On, target: On) -> On: ...

class DiceFocalLoss(Loss):
    def __call__(self, input: On, target: On) -> On: ...

class GeneralizedDiceLoss(Loss):
    def __call__(self, input: On, target: On) -> On: ...

class FocalLoss(Loss):
    def __call__(self, input: On, target: On) -> On: ...

class TverskyLoss(Loss):
    def __call__(self, input: On, target: On) -> On: ...

# https://docs.monai.io/en/stable/losses.html#diceceloss
class DiceCELoss(Loss):
    def __call__(self, input: On, target: On) -> On: ...

# https://docs.monai.io/en/stable/losses.html#localnormalizedcrosscorrelationloss
class LocalNormalizedCrossCorrelationLoss(Loss):
    def __call__(self, pred: On, target: On) -> On: ...
