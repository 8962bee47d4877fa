internal import Cryptography
internal import FoundationEssentials

/// The checks of the server's certificate and of its ports.
extension Doctor {
    /// The doctor warns about a certificate if fewer than this many seconds are left until it expires.
    private static let expiryMargin = 14.0 * 86_400

    func listeningChecks(_ configuration: Configuration) async -> [DoctorCheck] {
        var checks: [DoctorCheck] = []
        if let files = configuration.tls {
            do {
                _ = try TLSCertificates.context(files)
                let leaf = try Certificate.all(pem: readFile(files.certificatePath))[0]
                let (names, from, until) = (leaf.names, leaf.notBefore, leaf.notAfter)
                checks.append(Self.certificate(files.certificatePath, names, from: from, until: until, now: now()))
            } catch {
                checks.append(DoctorCheck("certificate", of: files.certificatePath, .failed, "\(error)"))
            }
        }
        for (port, variable) in configuration.ports where port != 0 {
            let subject = "\(variable) \(configuration.host):\(port)"
            do {
                try await Server.tryBinding(configuration.host, port, variable)
                checks.append(DoctorCheck("port", of: subject, .ok, "free"))
            } catch {
                checks.append(DoctorCheck("port", of: subject, .warning, "\(error)"))
            }
        }
        return checks
    }

    static func certificate(_ path: String, _ names: [String], from: Date, until: Date, now: Date) -> DoctorCheck {
        let isValid = from <= now && now <= until && !names.isEmpty
        let outcome: DoctorCheck.Outcome = !isValid ? .failed : until < now + expiryMargin ? .warning : .ok
        let words = names.isEmpty ? "no name" : names.joined(separator: ", ")
        return DoctorCheck(
            "certificate", of: path, outcome,
            "for \(words), valid from \(from.formatted(.iso8601)) to \(until.formatted(.iso8601))")
    }
}
