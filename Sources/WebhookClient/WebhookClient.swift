package import FoundationEssentials
package import Grandstand
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// Posts messages to webhooks over HTTP/1.1, each on a connection of its own.
///
/// The host's addresses are asked for once and checked, and it is one of those that is connected to, so a name that
/// changes in between leads nowhere else. Redirects are not followed; answers are read up to a limit and dropped.
package struct WebhookClient: WebhookGateway {
    package struct Settings: Sendable {
        package var networks: NetworkGuard
        /// For a whole exchange: name, connection, TLS, answer.
        package var timeout: Duration
        /// PEM certificates trusted besides the system's.
        package var trustedFile: String?

        package init(networks: NetworkGuard, timeout: Duration = .seconds(15), trustedFile: String? = nil) {
            self.networks = networks
            self.timeout = timeout
            self.trustedFile = trustedFile
        }
    }

    private let settings: Settings
    private let now: @Sendable () -> Date
    private let tls: NIOSSLContext
    private let resolve: @Sendable (String, Int) async throws -> [SocketAddress]

    /// - Throws: `WebhookClientError` when `trustedFile` holds no certificates.
    package init(settings: Settings, now: @escaping @Sendable () -> Date) throws {
        try self.init(settings: settings, now: now, resolve: Resolver.addresses)
    }

    init(
        settings: Settings, now: @escaping @Sendable () -> Date,
        resolve: @escaping @Sendable (String, Int) async throws -> [SocketAddress]
    ) throws {
        self.settings = settings
        self.now = now
        self.resolve = resolve
        tls = try Self.context(trusting: settings.trustedFile)
    }

    private static func context(trusting path: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.certificateVerification = .fullVerification
        configuration.shutdownTimeout = .seconds(1)
        do {
            if let path {
                configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(path))]
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw WebhookClientError(description: "\(path ?? "the system's store") holds no usable PEM certificates")
        }
    }

    package func post(_ message: ClaimedWebhook) async -> WebhookAnswer {
        let exchange = Exchange(request: request(message), now: now)
        return await carryOut(exchange, with: message.url)
    }

    /// The answer to a request, within the time.
    private func carryOut(_ exchange: Exchange, with url: WebhookURL) async -> WebhookAnswer {
        if let fault = settings.networks.fault(of: url) { return .refused(fault) }
        let deadline = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(settings.timeout)) {
            exchange.expire()
        }
        defer { deadline.cancel() }
        return await withTaskCancellationHandler {
            // Asking for the name cannot be cancelled; no call waits for it longer than for the whole.
            let work = Task { await connect(url, exchange) }
            defer { work.cancel() }
            return await exchange.answer()
        } onCancel: {
            exchange.settle(.unanswered("the server is stopping"))
        }
    }

    private func connect(_ url: WebhookURL, _ exchange: Exchange) async {
        let addresses: [SocketAddress]
        do {
            addresses = try await resolve(url.host, url.port)
        } catch {
            let reason = (error as? ResolverError)?.reason ?? "\(error)"
            return exchange.settle(.unanswered("\(url.host) has no address: \(reason)"))
        }
        let allowed = addresses.filter { address in
            address.ipAddress.flatMap(IPAddress.init).map(settings.networks.allows) ?? false
        }
        guard !allowed.isEmpty else {
            return exchange.settle(
                addresses.isEmpty
                    ? .unanswered("\(url.host) has no address") : .refused(NetworkGuard.advice(url.host)))
        }
        // One address that swallows packets must leave time for the next.
        let tried = allowed.prefix(Self.mostAddresses)
        var failure = ""
        for address in tried where !exchange.isSettled {
            do {
                let channel = try await bootstrap(url, exchange)
                    .connectTimeout(TimeAmount(settings.timeout / tried.count)).connect(to: address).get()
                exchange.adopt(channel)
                return
            } catch {
                failure = ExchangeFailure.text(error)
            }
        }
        exchange.settle(.unanswered("no connection to \(url.authority): \(failure)"))
    }

    /// Addresses of one host that are tried.
    private static let mostAddresses = 4

    private func bootstrap(_ url: WebhookURL, _ exchange: Exchange) -> ClientBootstrap {
        ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if url.scheme == .https {
                        // RFC 6066 3: SNI holds names only. Without one NIOSSL checks the certificate's addresses.
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: url.address == nil ? url.host : nil))
                    }
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(ExchangeHandler(exchange))
                }
            }
    }

    private func request(_ message: ClaimedWebhook) -> ExchangeRequest {
        let signature = WebhookSignature.headers(
            id: WebhookDelivery.messageName(message.message), at: now(), body: message.body, secrets: message.secrets)
        var headers: HTTPHeaders = [
            "host": message.url.authority, "content-type": "application/json", "user-agent": "grandstand",
            "content-length": String(message.body.count), "connection": "close",
        ]
        headers.add(contentsOf: signature.map { ($0.name, $0.value) })
        return ExchangeRequest(
            head: HTTPRequestHead(version: .http1_1, method: .POST, uri: message.url.target, headers: headers),
            body: ByteBuffer(bytes: message.body))
    }
}

/// The client cannot be set up.
package struct WebhookClientError: Error, Equatable, CustomStringConvertible {
    package let description: String
}
