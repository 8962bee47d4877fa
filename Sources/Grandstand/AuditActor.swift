package import FoundationEssentials

/// The author of a change: a caller by its API key, an operator at the command line, or the server by itself.
package enum AuditActor: Sendable, Hashable {
    case key(id: UUID, name: String)
    case commandLine
    case server

    /// The actor as text. The audit log shows this text, and filters by it.
    package var text: String {
        switch self {
        case .key(_, let name): "key:\(name)"
        case .commandLine: "command-line"
        case .server: "grandstand"
        }
    }

    /// The API key's ID. It stays unique when another key gets the same name.
    package var keyID: UUID? {
        guard case .key(let id, _) = self else { return nil }
        return id
    }
}
