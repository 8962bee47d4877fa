/// What a caller may see and change: all apps or some apps, and in them all events or only events with a key prefix.
/// Requests, pages and stores all use this one rule.
package struct AppReach: Sendable, Hashable {
    /// `nil`: all apps.
    private var appSet: Set<BundleID>?
    /// `nil`: all events of the apps.
    package var eventKeyPrefix: EventKey?

    package static let all = AppReach(of: nil)

    package static func only(_ apps: Set<BundleID>) -> AppReach { AppReach(of: Array(apps)) }

    /// - Parameter apps: `nil`: all.
    package init(of apps: [BundleID]?, eventKeyPrefix: EventKey? = nil) {
        appSet = apps.map(Set.init)
        self.eventKeyPrefix = eventKeyPrefix
    }

    /// The reach with these names as the database or a body has them. Names that this build cannot parse give access to
    /// nothing.
    ///
    /// - Parameter names: `nil`: all.
    package init(named names: [String]?, eventKeyPrefix: String? = nil) {
        self.init(of: names?.compactMap(BundleID.init), eventKeyPrefix: eventKeyPrefix.flatMap(EventKey.init))
    }

    /// Whether the app is within reach. Upper and lower case are the same.
    package func covers(_ bundleID: BundleID) -> Bool {
        guard let appSet else { return true }
        // The first check is cheaper, and most callers use the registered spelling.
        return appSet.contains(bundleID) || appSet.contains { $0.topic == bundleID.topic }
    }

    /// Whether an event with this key may be within reach. The apps of its audiences must be within reach, too.
    package func covers(_ key: EventKey) -> Bool {
        eventKeyPrefix.map { key.rawValue.hasPrefix($0.rawValue) } ?? true
    }

    /// Whether an event with audiences of these apps is within reach. All of the apps must be within reach. An event
    /// without audiences is within reach only for callers that may access all apps.
    ///
    /// - Parameter key: `nil`: a channel without an event.
    package func covers(event key: EventKey?, of apps: some Collection<BundleID>) -> Bool {
        guard key.map(covers) ?? (eventKeyPrefix == nil) else { return false }
        return appSet == nil || !apps.isEmpty && apps.allSatisfy(covers)
    }

    /// Whether this reach includes everything in `other`.
    package func covers(_ other: AppReach) -> Bool {
        if appSet != nil {
            guard let apps = other.appSet, !apps.isEmpty, apps.allSatisfy(covers) else { return false }
        }
        return eventKeyPrefix == nil || other.eventKeyPrefix.map(covers) ?? false
    }

    /// The apps in order; `nil`: all.
    package var apps: [BundleID]? { appSet?.sorted() }

    /// The app, if the reach has exactly one.
    package var onlyApp: BundleID? {
        guard let appSet, appSet.count == 1 else { return nil }
        return appSet.first
    }

    /// The apps and the prefix as text for people.
    package var text: String {
        let apps = appSet.map { $0.sorted().map(\.rawValue).joined(separator: ", ") } ?? "all apps"
        return apps + (eventKeyPrefix.map { ", event keys that begin with \($0)" } ?? "")
    }

    /// The apps' topics for database queries; `nil`: all apps.
    package var topics: [String]? { appSet?.map(\.topic).sorted() }

    /// The error for something outside the caller's reach.
    package var refusal: Problem {
        guard self != .all else { return Problem(.forbidden, "The key has no access to this.") }
        return Problem(
            .forbidden,
            "The key is for \(text) only; this belongs to "
                + (eventKeyPrefix == nil ? "another app" : "another app, to a whole app or to another event")
                + ", or has audiences of other apps, too."
        )
    }
}

/// A caller of the API or the console, or one of its requests.
package protocol Reaching {
    /// The apps that the caller reaches.
    var reach: AppReach { get }
}

extension Reaching {
    /// - Throws: `forbidden` for an app out of reach.
    package func requireAccess(to bundleID: BundleID) throws(Problem) {
        guard reach.covers(bundleID) else { throw reach.refusal }
    }

    /// - Parameter other: the apps of the object that is asked for.
    /// - Throws: `forbidden`.
    package func requireAccess(to other: AppReach) throws(Problem) {
        guard reach.covers(other) else { throw reach.refusal }
    }
}
