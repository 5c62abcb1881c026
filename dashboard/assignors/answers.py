"""What was answered, as long as it fits: by text and input, the newest first to stay."""

from collections import OrderedDict

BYTES_MAX = 16 << 20


class Answers:
    """key: a digest. An answer is at most a part of `bytes_max`."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self.bytes_max, self.bytes = bytes_max, 0
        self._known: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, key: bytes) -> bytes | None:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def keep(self, key: bytes, answer: bytes) -> None:
        self._drop(key)
        self._known[key] = answer
        self.bytes += len(key) + len(answer)
        while self.bytes > self.bytes_max:
            self._drop(next(iter(self._known)))

    def clear(self) -> None:
        self._known.clear()
        self.bytes = 0

    def _drop(self, key: bytes) -> None:
        if (answer := self._known.pop(key, None)) is not None:
            self.bytes -= len(key) + len(answer)
