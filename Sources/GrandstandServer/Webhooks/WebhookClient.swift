internal import CCurl
internal import Cryptography
internal import Dispatch
internal import FoundationEssentials
internal import Grandstand

/// The interface to the receivers of webhooks.
protocol WebhookGateway: Sendable {
    /// Posts a message once, within a limited time. A redirect counts as an answer like any other.
    func post(_ message: WebhookClaim) async -> WebhookAnswer
}

/// Posts messages to webhooks through libcurl, each on its own connection and thread.
///
/// libcurl resolves names asynchronously, so the time limit holds for a dead name server, too. The address is checked
/// when the socket is opened, so a name that changes after a check cannot lead to a forbidden address. Redirects are
/// not followed. Answers are read up to a limit and dropped.
struct WebhookClient: WebhookGateway {
    struct Settings: Sendable {
        var networks: NetworkGuard
        /// The limit for the whole exchange: name, connection, TLS and answer.
        var timeout: Duration = .seconds(15)
        /// A PEM file with certificates that are trusted in addition to the system's. It is read for each post.
        var trustedFile: String?
        /// For tests: addresses that replace the name server's, in the format of `CURLOPT_RESOLVE`.
        var dnsOverrides: [String] = []
    }

    private let settings: Settings
    private let now: @Sendable () -> Date

    /// Whether libcurl can be used. It needs an asynchronous resolver.
    private static let isCurlUsable =
        curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
        && curl_version_info(CURLVERSION_FIRST).pointee.features & CURL_VERSION_ASYNCHDNS != 0

    /// - Throws: `ExitError` if `trustedFile` contains no certificates, or libcurl cannot be used.
    init(settings: Settings, now: @escaping @Sendable () -> Date) throws {
        self.settings = settings
        self.now = now
        guard Self.isCurlUsable else {
            throw ExitError("libcurl cannot be used, or it was built without an asynchronous resolver")
        }
        _ = try settings.trustedFile.map(Self.authorities)
    }

    func post(_ message: WebhookClaim) async -> WebhookAnswer {
        if let fault = settings.networks.fault(of: message.url) { return .unanswered(fault) }
        // While the file cannot be read, only the system's certificates are trusted.
        let authorities = settings.trustedFile.flatMap { try? Self.authorities(with: $0) }
        let (settings, headers) = (settings, headers(message))
        let (answers, answer) = AsyncStream.makeStream(of: WebhookAnswer.self)
        // A serial queue of its own has a thread of its own.
        DispatchQueue(label: "grandstand.webhook").async {
            answer.yield(
                WebhookPost(message, settings)?.perform(headers, authorities: authorities)
                    ?? .unanswered("libcurl cannot start the post"))
        }
        // A post that is cancelled at a stop is given up at once. Its thread ends within the time limit.
        return await answers.first { _ in true } ?? .unanswered("the server is stopping")
    }

    private func headers(_ message: WebhookClaim) -> [String] {
        // A name without a value keeps libcurl from sending that header.
        [
            "Host: \(message.url.authority)", "Content-Type: application/json", "User-Agent: grandstand",
            "Connection: close", "Accept:", "Expect:",
        ] + Self.signatureHeaders(of: message.body.utf8, id: message.name, at: now(), secrets: message.secrets)
    }

    /// The three headers of Standard Webhooks. With these headers, a receiver checks that a message comes from this
    /// server, is unchanged and is recent.
    ///
    /// - Parameter secrets: each signs the message. While a secret is being replaced, there are two secrets.
    static func signatureHeaders(of body: [UInt8], id: String, at date: Date, secrets: [WebhookSecret]) -> [String] {
        let timestamp = Int(date.timeIntervalSince1970)
        let content = Array("\(id).\(timestamp).".utf8) + body
        let signatures = secrets.map { "v1,\(Data(SHA256.hmac(content, key: $0.bytes)).base64EncodedString())" }
        return [
            "webhook-id: \(id)", "webhook-timestamp: \(timestamp)",
            "webhook-signature: \(signatures.joined(separator: " "))",
        ]
    }

    /// The certificates of the system and of the file `path` in one PEM text, because libcurl takes only one list.
    ///
    /// - Throws: `ExitError` if the file contains no certificates.
    private static func authorities(with path: String) throws -> [UInt8] {
        guard let own = try? Data(contentsOf: URL(filePath: path)),
            String(decoding: own, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
        else { throw ExitError("\(path) contains no usable PEM certificates") }
        guard let handle = curl_easy_init() else { return Array(own) }
        defer { curl_easy_cleanup(handle) }
        let systems = ccurl_authorities_file(handle).flatMap {
            try? Data(contentsOf: URL(filePath: String(cString: $0)))
        }
        return Array(systems ?? Data()) + [UInt8(ascii: "\n")] + own
    }
}
