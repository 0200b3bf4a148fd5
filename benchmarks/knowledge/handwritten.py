"""Examples of functions for which the operator database has no samples that fit."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.knowledge.examples import Example, moved

__all__ = ["HANDWRITTEN", "handwritten"]

_INPUTS = {"x": "torch.rand(2, 3)", "hidden": "torch.rand(2, 4)"}
_GRU = {**_INPUTS, "w_ih": "torch.rand(12, 3)", "w_hh": "torch.rand(12, 4)"}
_RNN = {**_INPUTS, "w_ih": "torch.rand(4, 3)", "w_hh": "torch.rand(4, 4)"}
_LSTM = {**_INPUTS, "cell": "torch.rand(2, 4)", "w_ih": "torch.rand(16, 3)", "w_hh": "torch.rand(16, 4)"}
_SPARSE = {"matrix": "torch.eye(3).to_sparse()", "dense": "torch.rand(3, 3)"}
_STATISTICS = {"x": "torch.rand(2, 3, 4)", "mean": "torch.zeros(3)", "var": "torch.ones(3)"}
_SCORES = {"scores": "torch.rand(5)", "target": "torch.ones(5)"}
_VECTORS = {"first": "torch.rand(5, 3)", "second": "torch.rand(5, 3)"}
_PAIR = {**_VECTORS, "target": "torch.ones(5)"}
_RANKED = {"first": "torch.rand(5)", "second": "torch.rand(5)", "target": "torch.ones(5)"}
_TRIPLET = {"anchor": "torch.rand(5, 3)", "positive": "torch.rand(5, 3)", "negative": "torch.rand(5, 3)"}
_IDS = {"weight": "torch.rand(10, 3)", "ids": "torch.randint(10, (4,))"}
_SEQUENCES = {"source": "torch.rand(5, 2, 8)", "target": "torch.rand(4, 2, 8)"}

#: Name -> its operands by name, and the statement that calls it.
HANDWRITTEN: dict[str, tuple[dict[str, str], str]] = {
    "[]=": (
        {"x": "torch.rand(5)", "index": "torch.tensor([0, 2])", "values": "torch.rand(2)"},
        "x[index] = values",
    ),
    "torch.batch_norm": (_STATISTICS, "torch.batch_norm(x, None, None, mean, var, False, 0.1, 1e-5, False)"),
    "torch.binomial": ({"count": "torch.full((3,), 5.0)", "prob": "torch.rand(3)"}, "torch.binomial(count, prob)"),
    "torch.conv_tbc": (
        {"x": "torch.rand(5, 2, 3)", "weight": "torch.rand(2, 3, 4)", "bias": "torch.rand(4)"},
        "torch.conv_tbc(x, weight, bias)",
    ),
    "torch.convolution": (
        {"x": "torch.rand(1, 2, 5)", "weight": "torch.rand(3, 2, 2)"},
        "torch.convolution(x, weight, None, [1], [0], [1], False, [0], 1)",
    ),
    "torch.cosine_embedding_loss": (_PAIR, "torch.cosine_embedding_loss(first, second, target)"),
    "torch.dsmm": (_SPARSE, "torch.dsmm(matrix, dense)"),
    "torch.embedding_bag": ({**_IDS, "offsets": "torch.tensor([0, 2])"}, "torch.embedding_bag(weight, ids, offsets)"),
    "torch.fake_quantize_per_channel_affine": (
        {"x": "torch.rand(2, 3)", "scale": "torch.rand(2)", "zero_point": "torch.zeros(2, dtype=torch.int32)"},
        "torch.fake_quantize_per_channel_affine(x, scale, zero_point, 0, 0, 255)",
    ),
    "torch.grid_sampler": (
        {"image": "torch.rand(1, 2, 4, 4)", "grid": "torch.rand(1, 3, 3, 2)"},
        "torch.grid_sampler(image, grid, 0, 0, True)",
    ),
    "torch.gru_cell": (_GRU, "torch.gru_cell(x, hidden, w_ih, w_hh)"),
    "torch.hinge_embedding_loss": (_SCORES, "torch.hinge_embedding_loss(scores, target)"),
    "torch.hspmm": (_SPARSE, "torch.hspmm(matrix, dense)"),
    "torch.instance_norm": (_STATISTICS, "torch.instance_norm(x, None, None, mean, var, False, 0.1, 1e-5, False)"),
    "torch.kl_div": (_SCORES, "torch.kl_div(scores, target)"),
    "torch.lobpcg": (
        {"matrix": "torch.diag(torch.arange(1.0, 10.0))", "guess": "torch.rand(9, 1)"},
        "torch.lobpcg(matrix, 1, None, guess)",
    ),
    "torch.lstm_cell": (_LSTM, "torch.lstm_cell(x, (hidden, cell), w_ih, w_hh)"),
    "torch.margin_ranking_loss": (_RANKED, "torch.margin_ranking_loss(first, second, target)"),
    "torch.poisson_nll_loss": (_SCORES, "torch.poisson_nll_loss(scores, target, True, False, 1e-8, 1)"),
    "torch.rnn_relu_cell": (_RNN, "torch.rnn_relu_cell(x, hidden, w_ih, w_hh)"),
    "torch.rnn_tanh_cell": (_RNN, "torch.rnn_tanh_cell(x, hidden, w_ih, w_hh)"),
    "torch.smm": (_SPARSE, "torch.smm(matrix, dense)"),
    "torch.spmm": (_SPARSE, "torch.spmm(matrix, dense)"),
    "torch.sspaddmm": ({"bias": "torch.eye(3).to_sparse()", **_SPARSE}, "torch.sspaddmm(bias, matrix, dense)"),
    "torch.triplet_margin_loss": (_TRIPLET, "torch.triplet_margin_loss(anchor, positive, negative)"),
    "torch.where": (
        {"condition": "torch.randint(2, (3,), dtype=torch.bool)", "x": "torch.rand(3)", "y": "torch.rand(3)"},
        "torch.where(condition, x, y)",
    ),
    "torch.nn.functional.embedding": (_IDS, "torch.nn.functional.embedding(ids, weight)"),
    "Tensor.float_power_": (
        {"x": "torch.rand(3, dtype=torch.float64)", "exponent": "torch.rand(3)"},
        "x.float_power_(exponent)",
    ),
    "Tensor.smm": (_SPARSE, "matrix.smm(dense)"),
    "Tensor.sparse_mask": (
        {"dense": "torch.rand(3, 3)", "mask": "torch.eye(3).to_sparse()"},
        "dense.sparse_mask(mask)",
    ),
    "Tensor.sspaddmm": ({"bias": "torch.eye(3).to_sparse()", **_SPARSE}, "bias.sspaddmm(matrix, dense)"),
    "nn.AdaptiveLogSoftmaxWithLoss": (
        {
            "module": "nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6])",
            "x": "torch.rand(2, 4)",
            "y": "torch.randint(10, (2,))",
        },
        "module(x, y)",
    ),
    "nn.CosineSimilarity": (_VECTORS, "nn.CosineSimilarity()(first, second)"),
    "nn.EmbeddingBag": ({"module": "nn.EmbeddingBag(10, 3)", "ids": "torch.randint(10, (2, 4))"}, "module(ids)"),
    "nn.LazyBatchNorm1d": ({"module": "nn.LazyBatchNorm1d()", "x": "torch.rand(2, 5)"}, "module(x)"),
    "nn.LazyBatchNorm2d": ({"module": "nn.LazyBatchNorm2d()", "x": "torch.rand(2, 3, 4, 4)"}, "module(x)"),
    "nn.LazyBatchNorm3d": ({"module": "nn.LazyBatchNorm3d()", "x": "torch.rand(2, 3, 4, 4, 4)"}, "module(x)"),
    "nn.LazyLinear": ({"module": "nn.LazyLinear(3)", "x": "torch.rand(2, 5)"}, "module(x)"),
    "nn.MaxUnpool1d": (
        {"pooled": "torch.rand(1, 2, 3)", "indices": "torch.tensor([[[0, 2, 4], [1, 3, 5]]])"},
        "nn.MaxUnpool1d(2)(pooled, indices)",
    ),
    "nn.NLLLoss2d": (
        {"scores": "torch.rand(2, 3, 4, 4)", "target": "torch.randint(3, (2, 4, 4))"},
        "nn.NLLLoss2d()(scores, target)",
    ),
    "nn.PairwiseDistance": (_VECTORS, "nn.PairwiseDistance()(first, second)"),
    "nn.Sequential": ({"module": "nn.Sequential(nn.Linear(5, 3), nn.ReLU())", "x": "torch.rand(2, 5)"}, "module(x)"),
    "nn.TransformerDecoder": (
        {"module": "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2), 1)", **_SEQUENCES},
        "module(target, source)",
    ),
    "nn.TransformerEncoder": (
        {"module": "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 1)", "source": "torch.rand(5, 2, 8)"},
        "module(source)",
    ),
    "nn.TripletMarginLoss": (_TRIPLET, "nn.TripletMarginLoss()(anchor, positive, negative)"),
    "nn.TripletMarginWithDistanceLoss": (_TRIPLET, "nn.TripletMarginWithDistanceLoss()(anchor, positive, negative)"),
}


def handwritten(form: Example) -> Iterator[Example]:
    """Yield the example of a function, if there is one.

    Args:
        form: an example without operands and statement.

    """
    if form.name in HANDWRITTEN:
        operands, call = HANDWRITTEN[form.name]
        target = "" if " = " in call or call.partition("(")[0].endswith("_") else "result = "
        yield form._replace(
            operands=tuple(moved(name, source) for name, source in operands.items()), statement=target + call
        )
