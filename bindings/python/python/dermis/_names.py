"""Names that are valid in recordings, ROS and Rerun."""


def plain_name(name: str) -> str:
    """Lower case, with _ for all characters that are neither letters nor digits, starting with a letter."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower())
    return plain if plain[:1].isalpha() else f"s_{plain}"
