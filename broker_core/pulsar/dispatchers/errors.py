"""Refusals of a subscription, by the names that Pulsar gives its exceptions."""

from broker_core.errors import HighwaterError


class SubscriptionRefused(HighwaterError):
    """The broker refuses; nothing has changed.

    name: the exception of `BrokerServiceException` (3.2); code: the ServerError that the client receives;
    message: the original's text.
    """

    name = ""
    code = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConsumerBusy(SubscriptionRefused):
    name, code = "ConsumerBusyException", "ConsumerBusy"


class ServerMetadata(SubscriptionRefused):
    name, code = "ServerMetadataException", "MetadataError"


class SubscriptionBusy(SubscriptionRefused):
    name, code = "SubscriptionBusyException", "ConsumerBusy"


class NotAllowed(SubscriptionRefused):
    name, code = "NotAllowedException", "NotAllowedError"
