internal import Cryptography
internal import HTTP2
internal import Logging
internal import Synchronization

/// The API's certificate and key. They are read again when their files change. New connections then use them; open
/// connections keep the old ones.
final class TLSCertificates: Sendable {
    private struct State {
        var context: TLSContext
        var stamp: Stamp
        /// The files that could not be used. They are reported only once.
        var refused: Stamp?
    }

    /// Identifies the version of both files.
    private typealias Stamp = [FileStamp?]

    private let files: Configuration.TLS
    private let logger: Logger
    private let state: Mutex<State>

    /// - Throws: `ConfigurationError` if the files do not contain a usable certificate and key.
    init(_ files: Configuration.TLS, logger: Logger) throws {
        self.files = files
        self.logger = logger
        let stamp = Self.stamp(files)
        state = Mutex(State(context: try Self.context(files), stamp: stamp))
    }

    /// The TLS context for the next connection.
    var current: TLSContext { state.withLock { $0.context } }

    /// Reads the files if they have changed. If they cannot be used, nothing changes, because a new pair may be only
    /// half written.
    func reloadIfChanged() {
        let stamp = Self.stamp(files)
        guard state.withLock({ $0.stamp != stamp }) else { return }
        do {
            let context = try Self.context(files)
            state.withLock { $0 = State(context: context, stamp: stamp) }
            logger.notice("the TLS certificate was read again", metadata: ["file": "\(files.certificatePath)"])
        } catch {
            let isNew = state.withLock { state in
                defer { state.refused = stamp }
                return state.refused != stamp
            }
            if isNew { logger.warning("the TLS files changed and cannot be used", metadata: ["error": "\(error)"]) }
        }
    }

    private static func stamp(_ files: Configuration.TLS) -> Stamp {
        [FileStamp(files.certificatePath), FileStamp(files.keyPath)]
    }

    private static func context(_ files: Configuration.TLS) throws -> TLSContext {
        do {
            return try .server(
                chain: Certificate.all(pem: readFile(files.certificatePath)),
                key: PrivateKey(pem: readFile(files.keyPath)))
        } catch {
            throw ConfigurationError(
                "GRANDSTAND_TLS_CERT",
                "\(files.certificatePath) and \(files.keyPath) do not contain a usable certificate and its key")
        }
    }
}
