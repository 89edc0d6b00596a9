"""A network with states and numbers, for the tests of its page."""

from bayeswater import LinearGaussian, MixedNetwork


def people():
    """Two sexes, their heights, and weights that follow both."""
    heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
    weights = {"f": LinearGaussian(-100, {"height": 1.0}, 81), "m": LinearGaussian(-95, {"height": 1.0}, 90)}
    nodes = {"sex": {"f": 0.6, "m": 0.4}, "height": heights, "weight": weights}
    return MixedNetwork("sex -> height -> weight; sex -> weight", nodes)
