"""Ten matrix products, each a step faster, compared with an RTX A6000's rates."""
