import pathlib


class BlobStore:
    """A folder that pretends to be an object store."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def _path(self, key):
        return self.root / (key.replace("/", "__") + ".bin")

    def put(self, key, data):
        self.root.mkdir(exist_ok=True)
        self._path(key).write_bytes(data)

    def get(self, key):
        path = self._path(key)
        return path.read_bytes() if path.exists() else None
