internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix

extension Server {
    /// Runs one listener of the API until a graceful stop.
    ///
    /// - Parameters:
    ///   - name: the line in the log as soon as requests are accepted.
    ///   - lookups: answers lookups before routing; `nil`: this listener has no lookups.
    ///   - shares: chooses the connections to close when there are too many, or too many unread answers.
    ///   - certificates: `nil`: plain HTTP.
    ///   - onListening: called with the port at the same time.
    static func listen(
        _ configuration: Configuration, port: Int, _ name: Logger.Message, _ responder: some HTTPResponder<APIContext>,
        lookups: LookupResponder? = nil, shares: ConnectionLimit? = nil, certificates: TLSCertificates? = nil,
        logger: Logger, onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        let server = HTTPServerBuilder { responder in
            let base = HTTP1Channel(
                responder: responder,
                configuration: .init(
                    idleTimeout: nil,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1_024, maxHeaderListSize: 32 * 1_024, maxHeaderFieldCount: 100)))
            return GuardedChannel(
                base: base, timeout: configuration.headerTimeout, certificates: certificates, limit: shares,
                lookups: lookups)
        }
        // Hummingbird logs at info what this server logs itself.
        let quiet = quiet(logger)
        try await Application(
            responder: responder, server: server,
            configuration: .init(
                address: .hostname(configuration.host, port: port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    configuration.maximumConnections, logger: quiet)),
            onServerRunning: { channel in
                let (port, scheme) = (channel.localAddress?.port ?? 0, certificates == nil ? "http" : "https")
                logger.info(name, metadata: ["url": "\(scheme)://\(configuration.host):\(port)"])
                onListening(port)
            }, logger: quiet
        ).run()
    }

    /// Checks whether a server can listen on the address, before anything is opened.
    ///
    /// - Throws: `ExitError` with host and port.
    static func tryBinding(_ host: String, _ port: Int, _ variable: String) async throws(ExitError) {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ExitError(
                "\(variable): port \(port) on \(host) is in use; stop that program, or choose another port")
        } catch {
            throw ExitError("GRANDSTAND_HOST: cannot listen on \(host):\(port): \(error)")
        }
    }
}
