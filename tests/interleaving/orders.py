"""Every path through a tree of choices that is only known by walking it: one path per run, depth first."""


class Orders:
    """`choose` follows the path of this run; `next` moves on to the first path that has not been walked yet."""

    def __init__(self) -> None:
        self._path: list[tuple[tuple[str, ...], int]] = []
        self._depth = 0

    def choose(self, options: list[str], *, firm: bool = True) -> str:
        """One of the options. With `firm`, the same choices must have led to the same options before."""
        if self._depth < len(self._path) and self._path[self._depth][0] != tuple(options):
            assert not firm, f"the same choices led to {options} now and to {self._path[self._depth][0]} before"
            del self._path[self._depth :]
        if self._depth == len(self._path):
            self._path.append((tuple(options), 0))
        _, index = self._path[self._depth]
        self._depth += 1
        return options[index]

    def next(self) -> bool:
        """False when every path has been walked."""
        while self._path:
            options, index = self._path.pop()
            if index + 1 < len(options):
                self._path.append((options, index + 1))
                self._depth = 0
                return True
        return False
