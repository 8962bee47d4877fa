internal import Cryptography
internal import FoundationEssentials
internal import HTTP2
internal import NIOCore
internal import NIOPosix

/// The checks of the server's certificate and of its ports.
extension Doctor {
    /// The doctor warns about a certificate if fewer than this many days are left until it expires.
    private static let warnsWithin = 14.0

    func listeningChecks(_ configuration: Configuration) async -> [DoctorCheck] {
        var checks: [DoctorCheck] = []
        if let files = configuration.tls {
            do {
                _ = try TLSCertificates.context(files)
                let leaf = try Certificate.all(pem: readFile(files.certificatePath))[0]
                checks.append(
                    Self.certificate(
                        files.certificatePath, names: leaf.names, from: leaf.notBefore, until: leaf.notAfter, now: now()
                    ))
            } catch {
                checks.append(DoctorCheck("certificate", of: files.certificatePath, .failed, "\(error)"))
            }
        }
        for (port, variable, isTLS) in configuration.ports where port != 0 {
            let subject = "\(variable) \(configuration.host):\(port)"
            do {
                try await Server.probe(configuration.host, port, variable)
                checks.append(DoctorCheck("port", of: subject, .ok, "free"))
            } catch {
                let isOurs = await Self.isGrandstand(configuration.host, port, isTLS: isTLS)
                let finding = isOurs ? "a Grandstand server listens on it" : "\(error)"
                checks.append(DoctorCheck("port", of: subject, isOurs ? .ok : .failed, finding))
            }
        }
        return checks
    }

    static func certificate(_ path: String, names: [String], from: Date, until: Date, now: Date) -> DoctorCheck {
        let days = until.timeIntervalSince(now) / 86_400
        let (outcome, finding): (DoctorCheck.Outcome, String) =
            if now < from {
                (.failed, ", and not before \(from.formatted(.iso8601))")
            } else if days < 0 {
                (.failed, ": it has expired")
            } else if days < warnsWithin {
                (.warning, ": \(Int(days)) days")
            } else {
                (.ok, "")
            }
        let words = names.isEmpty ? "no name" : names.joined(separator: ", ")
        return DoctorCheck(
            "certificate", of: path, names.isEmpty ? .failed : outcome,
            "for \(words), valid until \(until.formatted(.iso8601))\(finding)")
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
