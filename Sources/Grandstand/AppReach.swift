/// Whose things a caller sees and changes: every app's, or those of some apps. The one rule for requests, pages, streams
/// and what the stores do for them.
package enum AppReach: Sendable, Hashable {
    case all
    case only(Set<BundleID>)

    /// Case does not tell apps apart.
    package func covers(_ bundleID: BundleID) -> Bool {
        switch self {
        case .all: true
        case .only(let apps): apps.contains { $0.topic == bundleID.topic }
        }
    }

    /// Whether an event with audiences of these apps is within reach: of all of them, not of some. An event that has no
    /// audience left is nobody's in particular, and so only within a reach without limits.
    package func covers(eventOf apps: some Collection<BundleID>) -> Bool {
        self == .all || !apps.isEmpty && apps.allSatisfy(covers)
    }

    /// The apps' topics, for questions to a database; `nil`: no limit.
    package var topics: [String]? {
        switch self {
        case .all: nil
        case .only(let apps): apps.map(\.topic).sorted()
        }
    }

    /// What a caller hears whose reach something is out of.
    package var refusal: Problem {
        guard case .only(let apps) = self else { return Problem(.forbidden, "The key does not reach this.") }
        let names = apps.map(\.rawValue).sorted().joined(separator: ", ")
        return Problem(.forbidden, "The key is for \(names) only; this belongs to another app, or to another app, too.")
    }
}

extension APIKey {
    /// Whose things the key reaches.
    package var reach: AppReach { bundleID.map { .only([$0]) } ?? .all }
}
