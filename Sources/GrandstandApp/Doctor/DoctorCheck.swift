/// One of the doctor's checks and its result.
package struct DoctorCheck: Sendable, Hashable, Codable {
    /// The result of a check.
    package enum Outcome: String, Sendable, Hashable, Codable {
        case ok
        /// What was checked works, but an operator should know about the finding.
        case warning
        case failed
        /// The check was not made, because an earlier check failed or there was nothing to check.
        case skipped
    }

    /// The name of the check: `settings`, `database`, … in the order of `DoctorReport`.
    package var name: String
    /// What was checked: an app and environment, or a host and port; `nil`: the whole installation.
    package var subject: String?
    package var outcome: Outcome
    /// The finding in one line.
    package var detail: String
    /// What to do after a failure or a warning, in one line.
    package var nextStep: String?

    init(_ name: String, of subject: String? = nil, _ outcome: Outcome, _ detail: String, next: String? = nil) {
        self.name = name
        self.subject = subject
        self.outcome = outcome
        self.detail = detail
        nextStep = next
    }
}
