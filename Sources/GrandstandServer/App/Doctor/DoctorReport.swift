internal import FoundationEssentials
internal import JSON

/// The doctor's findings, in the order of its checks.
package struct DoctorReport: Sendable, Hashable, Codable {
    var checks: [DoctorCheck]

    /// Whether no check failed.
    package var isHealthy: Bool { !checks.contains { $0.outcome == .failed } }

    /// A line for each check, followed by a line with the next step if there is one. File names and the database's
    /// messages may contain control characters, so these are escaped.
    package var text: String {
        checks.map { check in
            let mark =
                switch check.outcome {
                case .ok: "ok     "
                case .warning: "WARNING"
                case .failed: "FAILED "
                case .skipped: "skipped"
                }
            let subject = check.subject.map { " (\($0.escapingControls))" } ?? ""
            let next = check.nextStep.map { "\n         → \($0.escapingControls)" } ?? ""
            return "\(mark)  \(check.name)\(subject): \(check.detail.escapingControls)\(next)"
        }.joined(separator: "\n")
    }

    /// `{"healthy": …, "checks": […]}` with members in alphabetical order.
    package func json() throws -> String {
        struct Body: Encodable {
            var healthy: Bool
            var checks: [DoctorCheck]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(Body(healthy: isHealthy, checks: checks)), as: UTF8.self)
    }
}
