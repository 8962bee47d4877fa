# What scripts, benchmarks and the browser check share: a server with its simulator, a throw-away PostgreSQL, calls over
# HTTP, and Python packages from PyPI.
#
# Everything that is started ends with its `with`. GRANDSTAND names the program; by default it is .build/debug/grandstand.
import base64, glob, json, os, pwd, re, shutil, signal, socket, subprocess, sys, tempfile, time
import urllib.error, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(os.environ.get("GRANDSTAND") or ROOT + "/.build/debug/grandstand")
NAME = os.path.basename(sys.argv[0])


def fail(why, status=1):
    print(f"{NAME}: {why}", file=sys.stderr)
    sys.exit(status)


# Runs a command, and keeps what it prints.
def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


# Fails unless all these programs are installed.
def need(*programs, install):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        fail(f"{', '.join(missing)} is missing: {install}")


# Starts the script again with a Python that has packages from PyPI: a call of pip for each argument.
# They are installed once, below .build. Exit 69 (EX_UNAVAILABLE) if that fails, because a check that did not run has
# not passed.
def with_packages(*installs):
    folder = f"{ROOT}/.build/{NAME}-venv"
    python, complete = folder + "/bin/python", folder + "/complete"
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    if not os.path.exists(complete) or open(complete).read() != repr(installs):
        pip = [python, "-m", "pip", "install", "--quiet", "--retries", "2"]
        commands = [[sys.executable, "-m", "venv", "--clear", folder]]
        for command in commands + [[*pip, *one.split()] for one in installs]:
            done = run(command)
            if done.returncode:
                reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
                fail(f"{' '.join(installs)} could not be installed {reason}. Nothing was checked.\n"
                     "With a mirror: PIP_INDEX_URL=…; on Debian, python3-venv must be there.", os.EX_UNAVAILABLE)
        with open(complete, "w") as file:
            file.write(repr(installs))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.execv(python, [python, *sys.argv])


# Returns the first value of `holds` that is true. Fails if there is none in time.
def until(what, holds, seconds=60, pause=0.1):
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        if time.monotonic() > deadline:
            fail(f"{what}: not within {seconds} s")
        time.sleep(pause)
    return value


# Status and text of an answer; 0 and the reason if there is none.
def call(method, url, body=None, key=None, timeout=30):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + key} if key else {})
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()
    except OSError as error:
        return 0, str(error)


# An answer's JSON, or its text. Fails if the request is refused.
def ask(method, url, body=None, key=None):
    status, text = call(method, url, body, key)
    if not 200 <= status < 300:
        fail(f"{method} {url}: {status} {text[:500]}")
    return json.loads(text) if text[:1] in ("{", "[") else text


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


# A token for APNs, signed with the key in this file. openssl writes the signature as DER, and JOSE needs R || S.
def provider_token(key, header={"alg": "ES256", "kid": "SIMULATOR1"}, claims=None):
    claims = claims or {"iss": "SIMULATOR1", "iat": int(time.time())}
    text = b".".join(map(base64url, (json.dumps(header).encode(), json.dumps(claims).encode())))
    sign = ["openssl", "dgst", "-sha256", "-sign", key]
    der = subprocess.run(sign, input=text, capture_output=True, check=True).stdout
    numbers = (der[4:4 + der[3]], der[6 + der[3]:])
    signature = b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in numbers)
    return (text + b"." + base64url(signature)).decode()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


# A PostgreSQL in a temporary folder, on a socket. With `flush` commits wait for the disk, as in production.
class Cluster:
    def __init__(self, flush=False):
        patterns = ("/usr/lib/postgresql/*", "/opt/homebrew/opt/postgresql*", "/usr/local/opt/postgresql*")
        folders = [folder for pattern in patterns for folder in glob.glob(pattern + "/bin")]
        folders.sort(key=lambda folder: list(map(int, re.findall(r"\d+", folder))), reverse=True)
        folders.insert(0, os.path.dirname(os.path.realpath(shutil.which("initdb") or "/")))
        # Debian has the programs of a client alone in folders of the same form.
        self.bin = next((folder for folder in folders if all(
            os.access(f"{folder}/{program}", os.X_OK) for program in ("initdb", "psql"))), None)
        if not self.bin:
            fail("no PostgreSQL here; run  make setup")
        # PostgreSQL refuses to run as root, and its account may not be able to read root's temporary folder.
        self.folder = tempfile.mkdtemp(prefix="grandstand-", dir="/tmp")
        self.account = {}
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.dsn = f"host={self.folder} user=owner dbname=postgres"
        self.flush = "on" if flush else "off"

    def __enter__(self):
        data = self.folder + "/data"
        self.run("initdb", "-D", data, "-U", "owner", "--auth=trust", "--encoding=UTF8", "--locale=C",
                 "--no-sync")
        self.run("pg_ctl", "-D", data, "-l", data + "/log", "-w", "start", "-o",
                 f"-k '{self.folder}' -c listen_addresses='' -c fsync={self.flush} "
                 "-c max_connections=250")
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.folder + "/data", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Runs one of PostgreSQL's programs with its account.
    def run(self, program, *arguments, check=True, **options):
        done = run([f"{self.bin}/{program}", *arguments], cwd=self.folder, **self.account, **options)
        if check and done.returncode:
            fail(f"{program}: {done.stderr.strip() or done.stdout.strip()}")
        return done

    # The rows of statements, each in a transaction of its own, as lines of `|` between values.
    def sql(self, *statements, check=True):
        return self.psql(*(word for one in statements for word in ("-c", one)), check=check).stdout.strip()

    def psql(self, *arguments, **options):
        return self.run("psql", self.dsn, "-XAtq", "-v", "ON_ERROR_STOP=1", *arguments, **options)


# A simulator in Apple's place, and servers that use it. Without a database they have an embedded one.
# If the script fails, the ends of their logs are printed.
class Stage:
    def __init__(self, database=None, program=PROGRAM, simulator=(), **settings):
        if not os.access(program, os.X_OK):
            fail(f"{program} does not exist: swift build --product grandstand, or set GRANDSTAND")
        self.program, self.options, self.processes = program, simulator, {}
        self.folder = tempfile.mkdtemp(prefix="grandstand-")
        unset = lambda name: name.startswith("GRANDSTAND_") or name == "DATABASE_URL"
        self.environment = {name: value for name, value in os.environ.items() if not unset(name)}
        self.environment.update({
            "GRANDSTAND_PORT": "0", "GRANDSTAND_LOG_FORMAT": "json",
            "GRANDSTAND_DATA_DIR": self.folder + "/data", "GRANDSTAND_APNS_KEY_DIR": self.folder + "/apns",
            "GRANDSTAND_APNS_CA_FILE": self.folder + "/apns/ca.pem", **settings})
        if database:
            self.environment["DATABASE_URL"] = database

    def __enter__(self):
        # Exit normally, so that the processes are stopped, too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        ready = self.start(
            "simulator", self.program, "simulator", "--port", "0", "--control-port", "0", "--no-lock-screens",
            "--dir", self.folder + "/apns", *self.options, says=r"(?m)^listening (.*)$")
        # development, production and control are addresses; ca and key are files.
        self.apns = dict(pair.split("=", 1) for pair in ready[1].split())
        for name in ("development", "production"):
            for kind in ("SEND", "MANAGE"):
                self.environment[f"GRANDSTAND_APNS_{name.upper()}_{kind}_URL"] = self.apns[name]
        return self

    # Ends a process. Returns whether it ended by itself within 30 s.
    def stop(self, name):
        self.processes[name].send_signal(signal.SIGTERM)
        try:
            self.processes[name].wait(30)
        except subprocess.TimeoutExpired:
            self.processes[name].kill()
            return False
        return True

    def __exit__(self, kind, error, _):
        late = [name for name in reversed(self.processes) if not self.stop(name)]
        if late or kind and getattr(error, "code", 1) not in (None, 0):
            for name in self.processes:
                print(f"{NAME}: the end of {name}'s log:\n{self.log(name)[-1500:]}", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)
        if late and not kind:
            fail(f"{', '.join(late)} did not stop within 30 s")

    def log(self, name):
        with open(f"{self.folder}/{name}.log", errors="replace") as file:
            return file.read()

    # Starts a program with a log, and waits until the log matches. Returns the match.
    def start(self, name, *command, says=None, seconds=60, **options):
        with open(f"{self.folder}/{name}.log", "w") as log:
            self.processes[name] = process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)

        def said():
            found = re.search(says, self.log(name))
            if not found and process.poll() is not None:
                fail(f"{name} ended")
            return found

        return says and until(f"{name} says {says}", said, seconds)

    # The output of a command of the program, with the servers' settings.
    def run(self, *arguments, program=None):
        done = run([program or self.program, *arguments], env=self.environment)
        if done.returncode:
            fail(f"grandstand {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()

    # A new key. With an embedded database, before the server starts, because that locks it.
    def key(self, scope, *more):
        return self.run("keys", "create", "--name", scope, "--scope", scope, *more)

    # Starts a server, and returns its URL.
    def serve(self, name="server", program=None, pinned=(), **settings):
        ready = self.start(
            name, *pinned, program or self.program, "serve", env={**self.environment, **settings},
            says=r'"message":"listening".*?"url":"([^"]+)"')
        return ready[1].replace("\\/", "/")

    # A call of the simulator's control API.
    def control(self, method, path, body=None):
        return ask(method, self.apns["control"] + path, body)
