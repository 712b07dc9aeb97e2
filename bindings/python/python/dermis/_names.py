"""Names as recordings, ROS and Rerun take them."""


def plain_name(name: str) -> str:
    """Lower case, with _ for what is neither a letter nor a digit, starting with a letter."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower())
    return plain if plain[:1].isalpha() else f"s_{plain}"
