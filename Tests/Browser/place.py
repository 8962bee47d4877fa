"""What the browser check runs against: a simulator, a server on an embedded database, and keys of each kind."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("GRANDSTAND", os.path.join(ROOT, ".build/debug/grandstand"))


class Place:
    """Ends its processes, and removes its files, when it is left."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="grandstand-browser-")
        path = self.folder.name
        self.simulator = subprocess.Popen(
            [PROGRAM, "simulator", "--port", "0", "--control-port", "0", "--dir", path + "/apns", "--no-lock-screens"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        at = dict(pair.split("=", 1) for pair in self.simulator.stdout.readline().split()[1:])
        self.environment = dict(
            os.environ, GRANDSTAND_DATA_DIR=path + "/data", GRANDSTAND_PORT="0", GRANDSTAND_LOG_FORMAT="json",
            GRANDSTAND_APNS_KEY_DIR=path + "/apns", GRANDSTAND_APNS_CA_FILE=path + "/apns/ca.pem",
            GRANDSTAND_AUTH_FAILURE_LIMIT="0")
        for name in ("development", "production"):
            for what in ("SEND", "MANAGE"):
                self.environment[f"GRANDSTAND_APNS_{name.upper()}_{what}_URL"] = at.get(name, "")
        self.environment.pop("DATABASE_URL", None)
        # The first key must be there before the server, which holds the embedded database.
        self.admin = subprocess.run(
            [PROGRAM, "keys", "create", "--name", "director", "--scope", "admin"], env=self.environment,
            capture_output=True, text=True, check=True).stdout.strip()
        self.log = open(path + "/log", "w+")
        self.server = subprocess.Popen([PROGRAM, "serve"], env=self.environment, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.server.poll() is None:
            found = re.search(r'"message":"listening".*?"url":"([^"]+)"', open(self.log.name).read())
            if found:
                self.url = found.group(1).replace("\\/", "/")
                return self
            time.sleep(0.1)
        sys.exit("browser-check: the server did not start: " + open(self.log.name).read()[-500:])

    def __exit__(self, *_):
        for process in (self.server, self.simulator):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
        self.log.close()
        self.folder.cleanup()

    def call(self, method, path, body=None, key=None):
        """One call of the API; a refusal ends the check with the server's own words."""
        request = urllib.request.Request(
            self.url + path, None if body is None else json.dumps(body).encode(), method=method,
            headers={"Authorization": f"Bearer {key or self.admin}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                text = answer.read()
        except urllib.error.HTTPError as refusal:
            sys.exit(f"browser-check: {method} {path}: {refusal.read().decode()[:500]}")
        return json.loads(text) if text else None

    def processor_seconds(self):
        """What the server has used of the processor so far, and its memory in MB."""
        with open(f"/proc/{self.server.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        with open(f"/proc/{self.server.pid}/status") as file:
            memory = re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(memory) / 1024
