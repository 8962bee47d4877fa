internal import JSON

/// One of the doctor's checks and its result.
struct DoctorCheck: Error, Hashable, Codable {
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

    /// - Parameter next: `nil`: after a warning or a failure, what the runbook says.
    init(_ name: String, of subject: String? = nil, _ outcome: Outcome, _ detail: String, next: String? = nil) {
        (self.name, self.subject, self.outcome, self.detail) = (name, subject, outcome, detail)
        nextStep = next ?? ([.warning, .failed].contains(outcome) ? Self.advice(name, detail) : nil)
    }

    /// What the tables of the runbook say of a check or an alarm, without their links. Of several rows the one with the
    /// reason of the finding counts, or the last one.
    static func advice(_ name: String, _ finding: String) -> String? {
        let rows = EmbeddedFiles.rows(of: "runbook.md").filter { $0.count == 3 && $0[0].contains("`\(name)`") }
        let named = rows.first { $0[1].matches(of: /`(\w+)`/).contains { finding.contains($0.output.1) } }
        return (named ?? rows.last).map { $0[2].replacing(/\[([^\]]+)\]\([^)]+\)/) { $0.output.1 } }
    }
}

/// The doctor's findings, in the order of its checks.
package struct DoctorReport: Sendable, Hashable, Codable {
    var checks: [DoctorCheck]

    /// Whether no check failed.
    package var isHealthy: Bool { !checks.contains { $0.outcome == .failed } }

    /// A line for each check, followed by a line with the next step if there is one. File names and the database's
    /// messages may contain control characters, so these are escaped.
    package var text: String {
        checks.map { check in
            let word = check.outcome.rawValue
            let mark = [.warning, .failed].contains(check.outcome) ? word.uppercased() : word
            let subject = check.subject.map { " (\($0.escapingControls))" } ?? ""
            let next = check.nextStep.map { "\n         → \($0.escapingControls)" } ?? ""
            return "\((mark + "      ").prefix(7))  \(check.name)\(subject): \(check.detail.escapingControls)\(next)"
        }.joined(separator: "\n")
    }

    /// `{"healthy": …, "checks": […]}`.
    package func json() throws -> String {
        struct Body: Encodable {
            var healthy: Bool
            var checks: [DoctorCheck]
        }
        return String(decoding: JSONWriter.text(Body(healthy: isHealthy, checks: checks)), as: UTF8.self)
    }
}

extension EmbeddedFiles {
    /// The cells of all tables of a page that is compiled into the program.
    static func rows(of page: String) -> [[String]] {
        (texts[page] ?? "").split(separator: "\n").filter { $0.hasPrefix("| ") }
            .map { $0.dropFirst(2).dropLast(2).split(separator: " | ").map { String($0) } }
    }
}
