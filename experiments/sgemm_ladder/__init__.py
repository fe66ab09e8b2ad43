"""Ten matrix products, each a step faster, beside an RTX A6000's rates."""
