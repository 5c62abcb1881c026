"""What a program imports: `import highwater`.

The name alone lives here; what it gives is in broker_core/serve/. pyproject.toml says that this folder's package is
installed beside the core (docs/decisions/a-small-installation.md).
"""

from broker_core.serve.replay import Replayed, replay

__all__ = ["Replayed", "replay"]
