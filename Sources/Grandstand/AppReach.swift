/// What a caller sees and changes: all apps or some, and of their events all or those whose keys begin with a prefix. The
/// one rule for requests, pages, streams and what the stores do for them.
package struct AppReach: Sendable, Hashable {
    /// `nil`: all apps.
    private var bound: Set<BundleID>?
    /// `nil`: all events of the apps.
    package var eventKeyPrefix: EventKey?

    package static let all = AppReach(of: nil)

    package static func only(_ apps: Set<BundleID>) -> AppReach { AppReach(of: Array(apps)) }

    /// - Parameter apps: `nil`: all.
    package init(of apps: [BundleID]?, eventKeyPrefix: EventKey? = nil) {
        bound = apps.map(Set.init)
        self.eventKeyPrefix = eventKeyPrefix
    }

    /// Case does not tell apps apart.
    package func covers(_ bundleID: BundleID) -> Bool {
        guard let bound else { return true }
        // Mostly spelt the same: the topics need not be written then.
        return bound.contains(bundleID) || bound.contains { $0.topic == bundleID.topic }
    }

    /// Whether an event of this name may be within reach. Its audiences have to be, too.
    package func covers(_ key: EventKey) -> Bool {
        eventKeyPrefix.map { key.rawValue.hasPrefix($0.rawValue) } ?? true
    }

    /// Whether an event with audiences of these apps is within reach: of all of them, not of some. An event that has no
    /// audience left is within a reach of all apps only.
    ///
    /// - Parameter key: `nil`: it is a channel without an event.
    package func covers(event key: EventKey?, of apps: some Collection<BundleID>) -> Bool {
        guard key.map(covers) ?? (eventKeyPrefix == nil) else { return false }
        return bound == nil || !apps.isEmpty && apps.allSatisfy(covers)
    }

    /// Whether all that `other` reaches is within reach.
    package func covers(_ other: AppReach) -> Bool {
        if bound != nil {
            guard let apps = other.bound, !apps.isEmpty, apps.allSatisfy(covers) else { return false }
        }
        return eventKeyPrefix == nil || other.eventKeyPrefix.map(covers) ?? false
    }

    /// The apps by their names; `nil`: all.
    package var apps: [BundleID]? { bound?.sorted() }

    /// The app, where it is a single one.
    package var onlyApp: BundleID? {
        guard let bound, bound.count == 1 else { return nil }
        return bound.first
    }

    /// The apps and the prefix as people read them.
    package var text: String {
        let apps = bound.map { $0.sorted().map(\.rawValue).joined(separator: ", ") } ?? "all apps"
        return apps + (eventKeyPrefix.map { ", event keys that begin with \($0)" } ?? "")
    }

    /// The apps' topics, for questions to a database; `nil`: no limit.
    package var topics: [String]? { bound?.map(\.topic).sorted() }

    /// The refusal of something that is out of a caller's reach.
    package var refusal: Problem {
        guard self != .all else { return Problem(.forbidden, "The key does not reach this.") }
        return Problem(
            .forbidden,
            "The key is for \(text) only; this belongs to "
                + (eventKeyPrefix == nil ? "another app" : "another app, to a whole app or to another event")
                + ", or has audiences of other apps, too."
        )
    }
}
