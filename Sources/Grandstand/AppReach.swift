/// The apps whose data a caller sees and changes: all, or some. The one rule for requests, pages, streams and what the
/// stores do for them.
package enum AppReach: Sendable, Hashable {
    case all
    case only(Set<BundleID>)

    /// - Parameter apps: `nil`: all.
    package init(of apps: [BundleID]?) {
        self = apps.map { .only(Set($0)) } ?? .all
    }

    /// Case does not tell apps apart.
    package func covers(_ bundleID: BundleID) -> Bool {
        switch self {
        case .all: true
        // Mostly spelt the same: the topics need not be written then.
        case .only(let apps): apps.contains(bundleID) || apps.contains { $0.topic == bundleID.topic }
        }
    }

    /// Whether an event with audiences of these apps is within reach: of all of them, not of some. An event that has no
    /// audience left is within a reach without limits only.
    package func covers(eventOf apps: some Collection<BundleID>) -> Bool {
        self == .all || !apps.isEmpty && apps.allSatisfy(covers)
    }

    /// Whether all that `other` reaches is within reach.
    package func covers(_ other: AppReach) -> Bool {
        switch other {
        case .all: self == .all
        case .only(let apps): self == .all || !apps.isEmpty && apps.allSatisfy(covers)
        }
    }

    /// The apps by their names; `nil`: all.
    package var apps: [BundleID]? {
        switch self {
        case .all: nil
        case .only(let apps): apps.sorted()
        }
    }

    /// The app, where it is a single one.
    package var onlyApp: BundleID? {
        guard case .only(let apps) = self, apps.count == 1 else { return nil }
        return apps.first
    }

    /// The apps as people read them.
    package var text: String { apps.map { $0.map(\.rawValue).joined(separator: ", ") } ?? "all apps" }

    /// The apps' topics, for questions to a database; `nil`: no limit.
    package var topics: [String]? {
        switch self {
        case .all: nil
        case .only(let apps): apps.map(\.topic).sorted()
        }
    }

    /// The refusal of something that is out of a caller's reach.
    package var refusal: Problem {
        guard self != .all else { return Problem(.forbidden, "The key does not reach this.") }
        return Problem(
            .forbidden, "The key is for \(text) only; this belongs to another app, or has audiences of other apps, too."
        )
    }
}
