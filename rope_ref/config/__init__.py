"""What a model's config.json says of its RoPE, as explicit numbers.

Files are read as transformers 5.24 reads them, the program they are published for. What they say of RoPE stands under
many names, old and new; every name that is understood stands in this room, and a name that is not is refused.
"""

from rope_ref.config.read import read_config
from rope_ref.config.recipe import Recipe
from rope_ref.config.ropes import RopeConfig, from_config, rope_of_layers

__all__ = ["Recipe", "RopeConfig", "from_config", "read_config", "rope_of_layers"]
