internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// Knows the apps whose key file is missing or broken on this machine. This process leaves their messages to other
/// processes, because these may have the file.
final class KeylessApps: Sendable {
    private let fault: @Sendable (_ keyID: String) -> String?
    private let logger: Logger
    /// For each app whose key this process lacks: until when its messages are left to other processes.
    private let appRests = Mutex<[AppEnvironment: Date]>([:])

    /// Seconds after which this process claims messages of such an app again, so that those that expired end, even if no
    /// process has the key.
    private static let appRest: TimeInterval = 30
    /// Seconds between two looks.
    static let lookInterval: TimeInterval = 2

    /// - Parameter fault: why a key file cannot be used; `nil`: it can be used.
    init(fault: @escaping @Sendable (_ keyID: String) -> String?, logger: Logger) {
        (self.fault, self.logger) = (fault, logger)
    }

    /// Checks the key files of all apps.
    ///
    /// - Parameter signers: who signs for each registered app.
    /// - Returns: the apps whose key this process lacks.
    func look(_ signers: [AppEnvironment: Credentials], at now: Date) -> [AppEnvironment] {
        signers.filter { lacks($0.value.keyID, $0.key, at: now, restsAgain: false) }.map(\.key)
    }

    /// The apps whose messages are left to other processes now.
    func restingApps(in environment: APNsEnvironment, at now: Date) -> [BundleID] {
        appRests.withLock { rests in
            rests.filter { $0.key.environment == environment && $0.value > now }.map(\.key.bundleID)
        }
    }

    /// Whether a request was withheld because of its key. The app's messages are then left to other processes.
    func lacks(_ address: APNsAddress, at now: Date) -> Bool {
        lacks(address.credentials.keyID, address.app, at: now, restsAgain: true)
    }

    private func lacks(_ keyID: String, _ app: AppEnvironment, at now: Date, restsAgain: Bool) -> Bool {
        let why = fault(keyID)
        let isNews = appRests.withLock { rests in
            let isNews = (rests[app] == nil) != (why == nil)
            if why == nil { rests[app] = nil } else if isNews || restsAgain { rests[app] = now + Self.appRest }
            return isNews
        }
        if isNews, let why {
            logger.error("nothing is sent from here for \(app.bundleID): \(why)")
        } else if isNews {
            logger.notice("the key file \(keyID) can be used again for \(app.bundleID)")
        }
        return why != nil
    }
}
