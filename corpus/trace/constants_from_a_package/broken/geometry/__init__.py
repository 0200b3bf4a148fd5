from geometry import constants


def metric(name):
    """The metric of a space by its name."""
    return vars(constants)["_" + name]()
