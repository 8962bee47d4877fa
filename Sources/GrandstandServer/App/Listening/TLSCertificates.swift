internal import Cryptography
internal import HTTP2
internal import Logging
internal import Synchronization

/// The API's certificate and key. Each new connection looks whether the files have changed, and then reads them again;
/// open connections keep the old ones.
final class TLSCertificates: Sendable {
    private let files: Configuration.TLS
    private let logger: Logger
    /// The context in use, and the files that were read last, also if they could not be used.
    private let state: Mutex<(stamp: [FileStamp?], context: TLSContext)>

    init(_ files: Configuration.TLS, logger: Logger) throws {
        (self.files, self.logger) = (files, logger)
        state = Mutex((files.stamp, try Self.context(files)))
    }

    /// The TLS context for the next connection. If changed files cannot be used, it stays the same until they change
    /// again, because a new pair may be only half written.
    var current: TLSContext {
        let stamp = files.stamp
        return state.withLock { state in
            guard state.stamp != stamp else { return state.context }
            state.stamp = stamp
            do {
                state.context = try Self.context(files)
                logger.notice("the TLS certificate was read again")
            } catch {
                logger.warning("the TLS files changed and cannot be used: \(error)")
            }
            return state.context
        }
    }

    /// - Throws: `ExitError` if the files do not contain a usable certificate and key.
    static func context(_ files: Configuration.TLS) throws -> TLSContext {
        do {
            return try .server(
                chain: Certificate.all(pem: readFile(files.certificatePath)),
                key: PrivateKey(pem: readFile(files.keyPath)))
        } catch {
            throw ExitError(
                "GRANDSTAND_TLS_CERT", "\(files.certificatePath) is no certificate of the key \(files.keyPath)")
        }
    }
}

extension Configuration.TLS {
    /// Identifies the version of both files.
    fileprivate var stamp: [FileStamp?] { [FileStamp(certificatePath), FileStamp(keyPath)] }
}
