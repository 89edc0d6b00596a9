"""``bayeswater demo``: the whole story on built-in data."""


def demo() -> None:
    """Tell the whole story on built-in data."""
    from bayeswater.cli.demo_story import tell

    tell()
