internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

struct WebhookVerdictTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func verdict(_ answer: WebhookAnswer, tries: Int = 1, jitter: Double = 0.5) -> WebhookVerdict {
        WebhookVerdict(answer, tries: tries, now: now, jitter: jitter)
    }

    private func delay(_ answer: WebhookAnswer, tries: Int = 1, jitter: Double = 0.5) throws -> Double {
        let verdict = verdict(answer, tries: tries, jitter: jitter)
        #expect(verdict.state == .queued && !verdict.isGone)
        return try #require(verdict.retryAt).timeIntervalSince(now)
    }

    @Test func `2xx means delivered, 410 is final, and everything else is repeated`() throws {
        for status in [200, 201, 202, 204, 299] {
            let verdict = verdict(.answered(status: status))
            #expect((verdict.state, verdict.status, verdict.reason) == (.delivered, status, nil))
        }
        let gone = verdict(.answered(status: 410, retryAfter: 5))
        #expect(gone.isGone && gone.state == .failed && gone.retryAt == nil)
        for status in [300, 301, 302, 307, 400, 401, 404, 409, 422, 429, 500, 503] {
            #expect(verdict(.answered(status: status)).isFailing == (status >= 500))
            #expect(verdict(.answered(status: status)).status == status)
            #expect(try delay(.answered(status: status)) == 5)
        }
        #expect(verdict(.unanswered("private")).reason == "private" && verdict(.unanswered("private")).isFailing)
    }

    @Test func `the attempts end after some days`() throws {
        let delays = try (1...9).map { try delay(.unanswered("x"), tries: $0) }
        #expect(delays == WebhookVerdict.delays)
        let days: Double = delays.reduce(0, +) / 86_400
        #expect(days >= 2 && days <= 4)
        #expect(delays == delays.sorted())
        for (answer, tries, status, reason) in [
            (.unanswered("x"), 10, nil, "x"), (.answered(status: 500), 11, 500, "HTTP 500"),
        ] as [(WebhookAnswer, Int, Int?, String)] {
            let verdict = verdict(answer, tries: tries)
            #expect((verdict.state, verdict.status, verdict.reason) == (.failed, status, reason))
            #expect(verdict.retryAt == nil)
        }
    }

    @Test func `jitter changes a wait by at most a fifth, and Retry-After makes it longer, up to a day`() throws {
        #expect(try delay(.unanswered("x"), tries: 2, jitter: 0) == 240)
        #expect(abs(try delay(.unanswered("x"), tries: 2, jitter: 0.999_999) - 360) < 0.001)
        #expect(try delay(.answered(status: 429, retryAfter: 120)) == 120)
        #expect(try delay(.answered(status: 503, retryAfter: 1), tries: 2) == 300)
        #expect(try delay(.answered(status: 503, retryAfter: 10_000_000)) == 86_400)
    }

    @Test func `a secret has only one form, and is not printed`() throws {
        let secret = WebhookSecret.random()
        #expect(WebhookSecret(rawValue: secret.rawValue) == secret)
        #expect(secret.bytes.count == 32)
        #expect(!"\(secret)".contains(secret.rawValue.dropFirst(6)))
        for text in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!!"] {
            #expect(WebhookSecret(rawValue: text) == nil)
        }
    }
}

struct ReconciliationFoundTests {
    private static let at = Date(timeIntervalSince1970: 1_763_757_600)

    private static func found(
        missing: [Contract.MissingChannel] = [], unmanagedSince: [Date] = [],
        actions: [Contract.ReconciliationAction] = [], alarm: Contract.ReconciliationAlarm? = nil,
        standing: Contract.ReconciliationAlarm? = nil
    ) -> Contract.ReconciliationFound? {
        let report = Contract.Reconciliation(
            id: "x", bundleId: "a", environment: .production, actor: "server", startedAt: at, finishedAt: at + 1,
            applied: true, apple: 4, ledger: 3, matched: 3, missing: missing,
            unmanaged: unmanagedSince.map { Contract.UnmanagedChannel(channelId: "b", firstSeenAt: $0) },
            actions: actions, alarm: alarm, notes: [])
        return Contract.ReconciliationFound(report, standing: standing)
    }

    @Test func `a reconciliation is reported if it says something that none before it said`() {
        let lost = Contract.MissingChannel(id: "c", storagePolicy: .noMessageStored)
        let old = Self.at - 0.001
        for nothing in [
            Self.found(), Self.found(unmanagedSince: [old]), Self.found(standing: .listIncomplete),
            Self.found(alarm: .listIncomplete, standing: .listIncomplete),
        ] { #expect(nothing == nil) }
        #expect(Self.found(missing: [lost])?.missing == 1)
        #expect(Self.found(actions: [Contract.ReconciliationAction(action: .adopt, done: true)])?.actions == 1)
        #expect(Self.found(alarm: .capabilityOff, standing: .listIncomplete)?.alarm == .capabilityOff)
        let new = Self.found(unmanagedSince: [old, Self.at])
        #expect(new?.unmanaged == 2 && new?.newUnmanaged == 1)
    }
}

struct WebhookURLTests {
    @Test(arguments: [
        ("https://Hooks.Example.com:8443/a/b?c=d&e=%20", "hooks.example.com:8443"),
        ("https://example.com", "example.com"), ("http://example.com?x", "example.com"),
        ("https://example.com:443/", "example.com"), ("https://[2001:DB8::1]/", "[2001:db8::1]"),
        ("http://[::1]:8080", "[::1]:8080"),
    ])
    func `a URL names its host, and its port if that is not the scheme's`(text: String, authority: String) throws {
        let url = try #require(WebhookURL(rawValue: text))
        #expect(url.authority == authority)
        #expect((url.scheme == .https) == text.hasPrefix("https:"))
    }

    /// In some of these URLs, different parsers read different hosts. Others would break the request line, or are not
    /// valid URLs.
    @Test(arguments: [
        "", "example.com", "//example.com", "ftp://example.com", "https:/example.com", "https://", "https:///path",
        "https://user@example.com", "https://a:b@example.com", "https://example.com@10.0.0.1/",
        "https://example.com\\@10.0.0.1/", "https://example.com#@10.0.0.1", "https://example.com/ x",
        "https://exa mple.com", "https://example.com/\r\nHost: x", "https://example.com/\u{0}", "https://exämple.com",
        "https://example.com:0", "https://example.com:65536", "https://example.com:", "https://example.com:+1",
        "https://[::1", "https://::1/", "https://[example.com]/", "https://[1.2.3.4]/", "https://.example.com",
        "https://a..b", "https://%31%32%37.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://127.1/",
        "https://0x7f000001/",
    ])
    func `invalid URLs are refused`(text: String) { #expect(WebhookURL(rawValue: text) == nil) }

    @Test func `http and non-public addresses need permission`() throws {
        let plain = try #require(WebhookURL(rawValue: "http://example.com"))
        #expect(NetworkGuard().fault(of: plain)?.contains("GRANDSTAND_WEBHOOK_HTTP") ?? false)
        #expect(NetworkGuard(allowsPlainHTTP: true).fault(of: plain) == nil)
        for text in ["https://169.254.169.254/latest", "https://LOCALHOST", "https://[::1]/"] {
            let url = try #require(WebhookURL(rawValue: text))
            #expect(NetworkGuard().fault(of: url)?.contains("GRANDSTAND_WEBHOOK_NETWORKS") ?? false, "\(text)")
        }
    }
}

struct NetworkGuardTests {
    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255", "223.255.255.255",
        "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::101:101", "::ffff:1.1.1.1",
    ])
    func `public addresses may be called`(text: String) throws {
        #expect(NetworkGuard().allows(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.19.0.1", "203.0.113.9", "224.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fdff::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::1",
        "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "100::1",
    ])
    func `other addresses may not be called`(text: String) throws {
        #expect(!NetworkGuard().allows(try #require(IPAddress(text))))
    }

    @Test func `an allowed network is allowed in every notation, and nothing next to it`() throws {
        let networks = NetworkGuard(allowed: ["10.2.0.0/15", "fd00::/8"].compactMap(IPNetwork.init))
        for text in ["10.2.0.1", "10.3.255.255", "::ffff:10.2.0.1", "fd12::1"] {
            #expect(networks.allows(try #require(IPAddress(text))), "\(text)")
        }
        for text in ["10.1.255.255", "10.4.0.0", "fc00::1", "127.0.0.1"] {
            #expect(!networks.allows(try #require(IPAddress(text))), "\(text)")
        }
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "0x7f.0.0.1", "+1.2.3.4", "1.2.3.4 ", ":::", "1::2::3",
        "12345::", "fe80::1%eth0", "::1.2.3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "g::", ":1::2", "::+1", "[::1]",
    ])
    func `invalid addresses are refused`(text: String) { #expect(IPAddress(text) == nil) }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0.0/8/8", "fd00::/129", "localhost"])
    func `invalid networks are refused`(text: String) { #expect(IPNetwork(text) == nil) }
}
