/// One of the doctor's checks and its result.
struct DoctorCheck: Sendable, Hashable, Codable {
    /// The result of a check.
    enum Outcome: String, Sendable, Hashable, Codable {
        case ok
        /// What was checked works, but an operator should know about the finding.
        case warning
        case failed
        /// The check was not made, because an earlier check failed or there was nothing to check.
        case skipped
    }

    /// The name of the check: `settings`, `database`, … in the order of `DoctorReport`.
    var name: String
    /// What was checked: an app and environment, or a host and port; `nil`: the whole installation.
    var subject: String?
    var outcome: Outcome
    /// The finding in one line.
    var detail: String
    /// What to do after a failure or a warning, in one line.
    var nextStep: String?

    init(_ name: String, of subject: String? = nil, _ outcome: Outcome, _ detail: String, next: String? = nil) {
        self.name = name
        self.subject = subject
        self.outcome = outcome
        self.detail = detail
        nextStep = next
    }
}
