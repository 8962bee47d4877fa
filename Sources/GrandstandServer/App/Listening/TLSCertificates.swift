internal import Cryptography
internal import HTTP2
internal import Logging
internal import Synchronization

/// The API's certificate and key. Each new connection looks whether the files have changed, and then reads them again;
/// open connections keep the old ones.
final class TLSCertificates: Sendable {
    /// Identifies the version of both files.
    private typealias Stamp = [FileStamp?]

    private let files: Configuration.TLS
    private let logger: Logger
    /// The context in use, and the files that were read last, also if they could not be used.
    private let state: Mutex<(context: TLSContext, stamp: Stamp)>

    init(_ files: Configuration.TLS, logger: Logger) throws {
        (self.files, self.logger) = (files, logger)
        let stamp = Self.stamp(files)
        state = Mutex((try Self.context(files), stamp))
    }

    /// The TLS context for the next connection. If changed files cannot be used, it stays the same until they change
    /// again, because a new pair may be only half written.
    var current: TLSContext {
        let stamp = Self.stamp(files)
        return state.withLock { state in
            guard state.stamp != stamp else { return state.context }
            state.stamp = stamp
            do {
                state.context = try Self.context(files)
                logger.notice("the TLS certificate was read again", metadata: ["file": "\(files.certificatePath)"])
            } catch {
                logger.warning("the TLS files changed and cannot be used", metadata: ["error": "\(error)"])
            }
            return state.context
        }
    }

    private static func stamp(_ files: Configuration.TLS) -> Stamp {
        [FileStamp(files.certificatePath), FileStamp(files.keyPath)]
    }

    /// - Throws: `ConfigurationError` if the files do not contain a usable certificate and key.
    static func context(_ files: Configuration.TLS) throws -> TLSContext {
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
