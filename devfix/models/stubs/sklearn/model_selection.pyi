"""Splits of data: what is indexed stays on its device; the rest reads host memory."""

# https://scikit-learn.org/stable/modules/generated/sklearn.model_selection.train_test_split.html
def train_test_split(*arrays, stratify: Host = ..., **kwargs) -> Any: ...

# https://scikit-learn.org/stable/api/sklearn.model_selection.html
def __getattr__(*args: Host, **kwargs: Host) -> Array: ...
