/// One of the doctor's checks and its result.
package struct DoctorCheck: Sendable, Hashable, Codable {
    /// How it stands.
    package enum Outcome: String, Sendable, Hashable, Codable {
        case ok
        /// Works, but an operator should know of it.
        case warning
        case failed
        /// Could not be looked at, because of an earlier failure or because there is nothing to look at.
        case skipped
    }

    /// The subject: `settings`, `database`, … in the order of `DoctorReport`.
    package var name: String
    /// Where: an app and environment, a host and port; `nil` for the whole installation.
    package var subject: String?
    package var outcome: Outcome
    /// The finding, one line.
    package var detail: String
    /// The remedy for a failure or a warning, one line.
    package var nextStep: String?

    init(_ name: String, of subject: String? = nil, _ outcome: Outcome, _ detail: String, next: String? = nil) {
        self.name = name
        self.subject = subject
        self.outcome = outcome
        self.detail = detail
        nextStep = next
    }
}
