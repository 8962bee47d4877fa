# What the browser check runs against: a simulator, a server on an embedded database, and an administrator's key.
from stage import Stage, ask


class Place(Stage):
    def __init__(self):
        super().__init__(GRANDSTAND_AUTH_FAILURE_LIMIT="0")

    def __enter__(self):
        super().__enter__()
        self.admin = self.key("admin")
        self.url = self.serve()
        return self

    def call(self, method, path, body=None, key=None):
        return ask(method, self.url + path, body, key or self.admin)
