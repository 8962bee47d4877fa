internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// Knows the apps whose key file is missing or broken on this machine. This process leaves their messages to other
/// processes, because these may have the file.
final class KeyWatch: Sendable {
    private struct State {
        /// For each app whose key this process lacks: until when its messages are left to other processes.
        var restsUntil: [AppEnvironment: Date] = [:]
        /// The IDs of the keys that this process lacks, each logged once.
        var lacking: Set<String> = []
    }

    private let fault: @Sendable (_ keyID: String) -> String?
    private let logger: Logger
    private let state = Mutex(State())

    /// Seconds after which this process claims messages of such an app for a moment, so that those that expired end, even
    /// if no process has the key.
    private static let rest: TimeInterval = 30
    /// The length of this moment, and the time between two looks.
    static let interval: TimeInterval = 2

    /// - Parameter fault: why a key file cannot be used; `nil`: it can be used.
    init(fault: @escaping @Sendable (_ keyID: String) -> String?, logger: Logger) {
        (self.fault, self.logger) = (fault, logger)
    }

    /// Checks the key files of all apps.
    ///
    /// - Parameter signers: who signs for each registered app.
    /// - Returns: the apps whose key this process lacks.
    func look(_ signers: [AppEnvironment: Credentials], at now: Date) -> [AppEnvironment] {
        signers.filter { lacks($0.value.keyID, $0.key, at: now) }.map(\.key)
    }

    /// The apps whose messages are left to other processes now.
    func resting(in environment: APNsEnvironment, at now: Date) -> [BundleID] {
        state.withLock { state in
            state.restsUntil.filter { $0.key.environment == environment && $0.value > now }.map(\.key.bundleID)
        }
    }

    /// Whether a request was withheld because of its key. The app's messages are then left to other processes.
    func lacks(_ address: APNsAddress, at now: Date) -> Bool {
        lacks(address.credentials.keyID, address.app, at: now, restsAgain: true)
    }

    private func lacks(_ keyID: String, _ app: AppEnvironment, at now: Date, restsAgain: Bool = false) -> Bool {
        let why = fault(keyID)
        let isNews = state.withLock { state in
            guard why != nil else {
                state.restsUntil[app] = nil
                return state.lacking.remove(keyID) != nil
            }
            let over = state.restsUntil[app].map { now.timeIntervalSince($0) } ?? .infinity
            if restsAgain || over >= Self.interval { state.restsUntil[app] = now.addingTimeInterval(Self.rest) }
            return state.lacking.insert(keyID).inserted
        }
        let metadata: Logger.Metadata = ["app": "\(app.bundleID)", "key": "\(keyID)"]
        if isNews, let why {
            logger.error("nothing is sent from here with a key that apps use: \(why)", metadata: metadata)
        } else if isNews {
            logger.notice("the key file can be used again; waiting messages are sent", metadata: metadata)
        }
        return why != nil
    }
}
