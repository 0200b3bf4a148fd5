class Centred:
    """Looks like the network, and subtracts a centre first."""

    def __init__(self, network, **state):
        vars(self).update(state, _network=network)

    def __getattr__(self, name):
        return getattr(self._network, name)

    def __call__(self, x):
        return self._network(x - self.centre.to(x.device))
