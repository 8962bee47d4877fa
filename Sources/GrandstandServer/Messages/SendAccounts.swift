internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// Whether APNs accepts the broadcasts, or the pushes to devices, of each app in one environment, as this process sees it. Newer states replace
/// waiting ones, so only the answers show that nothing gets through.
final class SendAccounts: Sendable {
    private struct Account {
        var acceptedAt: Date?
        /// When the first message was sent that failed since the newest acceptance.
        var failingSince: Date?
        var warnedAt: Date?
        var isWarned = false
        /// Since the last report.
        var hasAccepted = false
        var hasFailed = false
    }

    private let environment: APNsEnvironment
    private let accounts = Mutex<[BundleID: Account]>([:])
    /// Seconds between two warnings about an app of which some messages fail and others do not.
    private static let warningPause: TimeInterval = 10

    init(environment: APNsEnvironment) { self.environment = environment }

    /// Records that a message failed.
    ///
    /// - Returns: whether to log this failure. Further ones are not logged until a message is accepted.
    func failed(_ app: BundleID, sentAt: Date, at now: Date) -> Bool {
        change(app) { account in
            account.hasFailed = true
            account.failingSince = account.failingSince ?? max(sentAt, account.acceptedAt ?? sentAt)
            let mayWarn = account.warnedAt.map { now.timeIntervalSince($0) >= Self.warningPause } ?? true
            guard !account.isWarned, mayWarn else { return false }
            (account.isWarned, account.warnedAt) = (true, now)
            return true
        }
    }

    /// Records that a message was accepted.
    ///
    /// - Returns: whether to log the end of the failures.
    func accepted(_ app: BundleID, sentAt: Date, at now: Date) -> Bool {
        change(app) { account in
            (account.hasAccepted, account.acceptedAt) = (true, now)
            // The acceptance of a message that was sent before the first failure does not show that failures have ended.
            guard let since = account.failingSince, sentAt >= since else { return false }
            (account.hasFailed, account.failingSince) = (false, nil)
            defer { account.isWarned = false }
            return account.isWarned
        }
    }

    /// What was answered since the last call: when the newest message of an app was accepted, and since when all of
    /// them fail.
    func reports() -> [(app: AppEnvironment, acceptedAt: Date?, failingSince: Date?)] {
        accounts.withLock { accounts in
            let news = accounts.filter { $0.value.hasAccepted || $0.value.hasFailed }
            for app in news.keys {
                accounts[app]?.hasAccepted = false
                accounts[app]?.hasFailed = false
            }
            return news.map { app, account in
                (
                    app: AppEnvironment(bundleID: app, environment: environment),
                    acceptedAt: account.hasAccepted ? account.acceptedAt : nil,
                    failingSince: account.hasFailed ? account.failingSince : nil
                )
            }
        }
    }

    private func change(_ app: BundleID, _ body: (inout Account) -> Bool) -> Bool {
        accounts.withLock { body(&$0[app, default: Account()]) }
    }
}
