package import APNsWire
package import FoundationEssentials

/// An observed departure of APNs from its documentation, kept per app and environment.
package struct Quirk: Sendable, Hashable {
    package enum Name: String, Sendable, Hashable, CaseIterable {
        /// How the management API wants the bundle ID: `registered` or `lowercased` (apns-contract section 7).
        case managementPath = "management-path"
    }

    package var environment: APNsEnvironment
    package var name: Name
    package var value: String
    package var learnedAt: Date
    /// What was seen, in words.
    package var evidence: String

    package init(environment: APNsEnvironment, name: Name, value: String, learnedAt: Date, evidence: String) {
        self.environment = environment
        self.name = name
        self.value = value
        self.learnedAt = learnedAt
        self.evidence = evidence
    }
}
