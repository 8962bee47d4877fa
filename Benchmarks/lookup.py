# Lookups from memory beside nginx, which serves the same bytes from a file.
from harness import *
import getpass

NGINX = """worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-errors.log; user {user};
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; default_type application/json;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; add_header Cache-Control "public, max-age=10"; }}
}}
"""
CHANGE = "\\set n random(1, {events})\nupdate events set ends_at = clock_timestamp() where key = 'match-' || :n;\n"


# lookup: of one of `events` events, or of a list, such as query=topic=team:7 (one event of 200). Each server has core
# 0, in turn; wrk has core 1, with PostgreSQL. Then beside `changes` changes a second.
def lookup(events=200000, rounds=3, seconds=5, connections=64, changes=1000, query=""):
    need("wrk", "nginx", "taskset", install="apt-get install wrk nginx-light util-linux")
    with field(replicas=0, GRANDSTAND_ROLES="api") as place:
        with open(place.cluster.folder + "/data/postmaster.pid") as file:
            subprocess.run(["taskset", "-apc", "1", file.readline().strip()], check=True, capture_output=True)
        with open(os.path.join(ROOT, "Benchmarks/events.sql")) as file:
            place.plain_sql(["set session_replication_role = replica", file.read().replace(":events", str(events))])
        url = place.serve(pinned=("taskset", "-c", "0"))
        pid = place.processes["server"].pid
        path = "/v1/lookup/com.example.Stadium/production" + (f"?{query}" if query else f"/match-{events // 2}")
        key = place.key("lookup", "--app", "com.example.Stadium")
        until("the first answer", lambda: stage.call("GET", url + path, key=key)[0] == 200, 120)
        time.sleep(5)
        read = memory(pid)

        port, www = stage.free_port(), place.folder + "/www"
        file = www + path.partition("?")[0]
        os.makedirs(os.path.dirname(file))
        with open(file, "w") as copy:
            copy.write(stage.call("GET", url + path, key=key)[1])
        with open(place.folder + "/nginx.conf", "w") as configuration:
            configuration.write(NGINX.format(folder=place.folder, port=port, user=getpass.getuser()))
        os.chmod(place.folder, 0o755)
        place.start("nginx", "taskset", "-c", "0", "nginx", "-c", place.folder + "/nginx.conf")
        peer = f"http://127.0.0.1:{port}"
        until("nginx answers", lambda: stage.call("GET", peer + path)[0] == 200)

        # Requests a second.
        def load(address, *headers):
            fields = [word for header in headers for word in ("-H", header)]
            text, *_ = measured("wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *fields, address + path, core=1)
            if "Non-2xx" in text or "Socket errors" in text:
                fail(text)
            return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))

        # The same while somebody changes events.
        def beside(address, *headers):
            with open(place.cluster.folder + "/change.sql", "w") as script:
                script.write(CHANGE.format(events=events))
            changing = subprocess.Popen(
                [place.cluster.bin + "/pgbench", "-n", "-M", "prepared", "-c", "4", "-R", str(changes), "-T",
                 str(seconds + 2), "-f", script.name, place.cluster.dsn],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1)
            rate = load(address, *headers)
            changing.wait()
            return rate

        keyed = "Authorization: Bearer " + key
        tag = re.search(r"(?i)etag: (\S+)", subprocess.run(
            ["curl", "-siH", keyed, url + path], capture_output=True, text=True, check=True).stdout).group(1)
        load(url, keyed)
        rates = {}
        for number in range(rounds):
            for name, rate in (
                    ("grandstand", lambda: load(url, keyed)),
                    ("304", lambda: load(url, keyed, "If-None-Match: " + tag)),
                    # A request that names itself goes to the router, which finds the same records.
                    ("by the router", lambda: load(url, keyed, "X-Request-Id: a")), ("nginx", lambda: load(peer)),
                    ("beside changes", lambda: beside(url, keyed))):
                rates.setdefault(name, []).append(rate())
            # What the changes take from wrk, with which PostgreSQL shares a core; our server stands still.
            os.kill(pid, stage.signal.SIGSTOP)
            rates.setdefault("nginx beside changes", []).append(beside(peer))
            os.kill(pid, stage.signal.SIGCONT)
            time.sleep(2)
        rates = {name: statistics.median(all_of_them) for name, all_of_them in rates.items()}
        for name, rate in rates.items():
            say(f"{name}: {rate:,.0f} a second")
        result("lookups, to nginx", rates["grandstand"] / rates["nginx"], at_least=0.31)
        result("304, to nginx", rates["304"] / rates["nginx"], at_least=0.31)
        result("by the router, to nginx", rates["by the router"] / rates["nginx"])
        result(f"beside {changes} changes a second, to nginx beside them",
               rates["beside changes"] / rates["nginx beside changes"], at_least=0.25)
        result(f"memory with {events} events, when read", read, unit=" MB")
        result("at most", memory(pid, "VmHWM"), unit=" MB", at_most=max(200, events / 1000))
