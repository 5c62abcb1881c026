"""What an exchange does with a message, by its type. Each module of this package with an `EXCHANGE` adds its
own: a new type is one small file, whose class has the name, the bindings' check and the routing.

>>> from broker_core.rabbitmq.properties import NO_PROPERTIES
>>> exchange = EXCHANGE_TYPES["topic"]()
>>> exchange.bind(("queue", "q1"), "*.orange.*", {})
True
>>> exchange.route(["quick.orange.rabbit"], NO_PROPERTIES)
(('queue', 'q1'),)
"""

from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from broker_core.rabbitmq.exchanges.base import Binding, Destination, ExchangeType, Explanation

__all__ = ["EXCHANGE_TYPES", "Binding", "Destination", "ExchangeType", "Explanation"]


def _collect() -> dict[str, type[ExchangeType]]:
    modules = (import_module(module.name) for module in iter_modules(__path__, f"{__name__}."))
    found: list[type[ExchangeType]] = [module.EXCHANGE for module in modules if hasattr(module, "EXCHANGE")]
    return {exchange.name: exchange for exchange in found}


EXCHANGE_TYPES = MappingProxyType(_collect())
"""Name of a type, as exchange.declare has it -> its class."""
