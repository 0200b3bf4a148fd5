"""``torch.distributions``: parameters and values that must live together, and where draws are."""

from __future__ import annotations

import pytest

SETUP = """\
from torch import distributions as td
from torch.distributions import Bernoulli, Categorical, Independent, Normal, kl_divergence

here, there = torch.ones(3), torch.ones(3).cuda()
"""


@pytest.mark.parametrize(
    "last",
    [
        pytest.param("Categorical(there).log_prob(torch.tensor(1))", id="index-without-dimensions"),
        pytest.param("Bernoulli(probs=there).log_prob(torch.tensor(1.0))", id="broadcast-value"),
        pytest.param("Normal(there, 1.0).log_prob(here)", id="value"),
        pytest.param("Normal(here, here).log_prob(there)", id="parameters-stayed"),
        pytest.param("Normal(there, torch.tensor(0.1)).rsample()", id="parameter-without-dimensions"),
        pytest.param("td.Normal(loc=there, scale=here).sample()", id="drawn-from-both"),
        pytest.param("Independent(Normal(there, there), 1).log_prob(here)", id="independent"),
        pytest.param("kl_divergence(Normal(there, 1.0), Normal(here, 1.0))", id="divergence"),
        pytest.param("there + Categorical(here).sample()", id="drawn-on-the-cpu"),
        pytest.param("there * Normal(0.0, 1.0).sample((3,))", id="drawn-from-numbers"),
        pytest.param("there * td.Beta(torch.tensor(1.0), torch.tensor(1.0)).sample((3,))", id="several-of-one"),
        pytest.param("there * td.Beta(torch.tensor([1.0]), torch.tensor([1.0])).sample()", id="of-one-element"),
    ],
)
def test_these_meet(met, last):
    assert met(SETUP + last) == [last]


@pytest.mark.parametrize(
    "last",
    [
        pytest.param("Categorical(there).log_prob(torch.tensor(1).cuda())", id="together"),
        pytest.param("Normal(there, 1.0).log_prob(torch.tensor(0.5))", id="a-number-for-a-density"),
        pytest.param("Normal(0.0, 1.0).log_prob(there)", id="parameters-are-numbers"),
        pytest.param("kl_divergence(Normal(there, 1.0), Normal(0.0, 1.0))", id="divergence-from-numbers"),
        pytest.param("there + Normal(there, there).rsample()", id="drawn-there"),
        pytest.param("there + Normal(there, 1.0).mean", id="attribute"),
        pytest.param("there + Independent(Normal(there, 1.0), 1).sample()", id="drawn-from-independent"),
        pytest.param("there * Normal(0.0, 1.0).sample()", id="drawn-number"),
        pytest.param("there * td.Beta(torch.tensor(1.0), torch.tensor(1.0)).sample()", id="drawn-without-dimensions"),
        pytest.param("there * td.Gamma(torch.tensor(2.0), 1.0).rsample()", id="reparametrised-without-dimensions"),
        pytest.param("there + Normal(unknown, 1.0).sample()", id="unknown-parameter"),
        pytest.param("there + Normal(0.0, 1.0).cdf(unknown)", id="unknown-value-of-numbers"),
        pytest.param("there + td.transforms.ExpTransform()(there)", id="no-distribution"),
    ],
)
def test_these_do_not(met, last):
    assert met(SETUP + last) == []
