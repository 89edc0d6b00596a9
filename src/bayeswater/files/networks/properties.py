"""Properties of formats that have one text for each: ``position = (218, 195)`` is a name and a value."""

from bayeswater.files.networks.document import Property


def property_of(text: str) -> Property:
    """Take a text apart; one without an equals sign is a remark, with no name.

    >>> property_of("position = (218, 195)"), property_of("made by hand")
    (('position', '(218, 195)'), ('', 'made by hand'))
    """
    name, equals, value = text.partition("=")
    return (name.strip(), value.strip()) if equals else ("", text.strip())


def property_text(one: Property) -> str:
    """Put name and value together."""
    name, value = one
    return f"{name} = {value}".rstrip() if name else value
