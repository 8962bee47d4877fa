internal import Cryptography
internal import FoundationEssentials
internal import HTTP2
internal import Logging
internal import NIOCore
internal import NIOPosix

/// The checks of the server's certificate and of its ports.
enum DoctorListening {
    static func checks(_ configuration: Configuration, now: Date) async -> [DoctorCheck] {
        var checks = configuration.tls.map { certificate($0, now: now) } ?? []
        if configuration.roles.contains(.api) {
            checks += await port(
                configuration.host, configuration.port, "GRANDSTAND_PORT", isTLS: configuration.tls != nil)
        }
        if let port = configuration.operationsPort {
            checks += await Self.port(configuration.host, port, "GRANDSTAND_OPERATIONS_PORT", isTLS: false)
        }
        return checks
    }

    // MARK: The certificate

    /// The doctor warns about a certificate if fewer than this many days are left until it expires.
    private static let warnsWithin = 14.0

    private static func certificate(_ files: Configuration.TLS, now: Date) -> [DoctorCheck] {
        let name = "certificate"
        do {
            _ = try TLSCertificates(files, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        } catch {
            return [DoctorCheck(name, of: files.certificatePath, .failed, "\(error)", next: "replace the files")]
        }
        guard let leaf = try? Certificate.all(pem: readFile(files.certificatePath)).first else { return [] }
        return [
            certificate(
                files.certificatePath, names: leaf.names, from: leaf.notBefore, until: leaf.notAfter, now: now)
        ]
    }

    static func certificate(_ path: String, names: [String], from: Date, until: Date, now: Date) -> DoctorCheck {
        let name = "certificate"
        let days = until.timeIntervalSince(now) / 86_400
        let words =
            "for \(names.isEmpty ? "no name" : names.joined(separator: ", ")), valid until \(until.formatted(.iso8601))"
        let renew = "renew it and replace the file; a running server reads the new file by itself"
        if now < from {
            return DoctorCheck(
                name, of: path, .failed, "\(words), and not before \(from.formatted(.iso8601))",
                next: "set this machine's clock, or replace the file")
        }
        if days < 0 { return DoctorCheck(name, of: path, .failed, "\(words): it has expired", next: renew) }
        if names.isEmpty {
            return DoctorCheck(
                name, of: path, .failed, words, next: "ask for one with the server's name as a subject alternative name"
            )
        }
        return days < warnsWithin
            ? DoctorCheck(name, of: path, .warning, "\(words): \(Int(days)) days", next: renew)
            : DoctorCheck(name, of: path, .ok, words)
    }

    // MARK: Ports

    /// Checks that the port is free, or that Grandstand itself listens on it.
    private static func port(_ host: String, _ port: Int, _ variable: String, isTLS: Bool) async -> [DoctorCheck] {
        guard port != 0 else { return [] }
        let subject = "\(variable) \(host):\(port)"
        do {
            try await ListeningAddress.probe(host, port, variable: variable)
            return [DoctorCheck("port", of: subject, .ok, "free")]
        } catch {
            guard await isGrandstand(host, port, isTLS: isTLS) else {
                return [
                    DoctorCheck(
                        "port", of: subject, .failed, "\(error)", next: "`ss -ltnp` shows which program uses it")
                ]
            }
            return [DoctorCheck("port", of: subject, .ok, "a Grandstand server listens on it")]
        }
    }

    private static func isGrandstand(_ host: String, _ port: Int, isTLS: Bool) async -> Bool {
        let own = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        let connection = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(2))
            .connect(host: own, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if isTLS {
                        // The certificate is not checked, because this connection only finds out which program listens.
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(.client(.unchecked)))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        guard let connection else { return false }
        let channel = connection.channel
        let timer = channel.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(promise: nil) }
        defer { timer.cancel() }
        var text = ""
        try? await connection.executeThenClose { inbound, outbound in
            let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            try await outbound.write(ByteBuffer(string: request))
            for try await part in inbound { text += String(buffer: part) }
        }
        // With an operations port, only that port answers /healthz with 200. The API's port answers 404 with a problem
        // document.
        return text.hasPrefix("HTTP/1.1 200") && text.contains(#""status":"ok""#)
            || text.hasPrefix("HTTP/1.1 404") && text.lowercased().contains("application/problem+json")
    }
}
