internal import GrandstandAPI
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import ServiceLifecycle

/// The API's listener, as one of the server's services.
struct HTTPServer: Service {
    let configuration: Configuration
    let api: API
    let logger: Logger
    /// Called with the port once requests are taken.
    let onListening: @Sendable (Int) async -> Void

    func run() async throws {
        var logger = logger
        // Hummingbird says at info what this logs itself.
        if logger.logLevel == .info { logger.logLevel = .notice }
        let application = Application(
            responder: api.responder(), server: try Self.server(configuration, api.lookupDesk()),
            configuration: .init(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { [onListening] channel in await onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        try await application.run()
    }

    private static func server(_ configuration: Configuration, _ desk: LookupDesk) throws -> HTTPServerBuilder {
        let http = HTTPServerBuilder { responder in
            LookupChannel(
                base: HTTP1Channel(responder: responder, configuration: .init(idleTimeout: .seconds(60))), desk: desk)
        }
        guard let tls = configuration.tls else { return http }
        return try .tls(http, tlsConfiguration: tlsConfiguration(tls))
    }

    /// - Throws: `ConfigurationError` for files that hold no usable certificate and key.
    static func tlsConfiguration(_ tls: Configuration.TLS) throws -> TLSConfiguration {
        do {
            return TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificatePath).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.keyPath, format: .pem)))
        } catch {
            throw ConfigurationError(
                "GRANDSTAND_TLS_CERT", "\(tls.certificatePath) and \(tls.keyPath) hold no usable certificate and key")
        }
    }

    /// Finds out before anything is opened whether the address can be listened on.
    ///
    /// - Throws: `StartError` naming host and port.
    static func probe(_ configuration: Configuration) async throws(StartError) {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: configuration.host, port: configuration.port).get()
            try await channel.close()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw StartError(
                "GRANDSTAND_PORT: port \(configuration.port) on \(configuration.host) is in use; "
                    + "stop what listens there or choose another, 0 for any free one")
        } catch {
            throw StartError("GRANDSTAND_HOST: cannot listen on \(configuration.host):\(configuration.port): \(error)")
        }
    }
}
