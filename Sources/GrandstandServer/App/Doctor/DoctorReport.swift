internal import FoundationEssentials

/// The doctor's findings, in the order of its checks.
package struct DoctorReport: Sendable, Hashable, Codable {
    var checks: [DoctorCheck]

    /// Whether no check failed.
    package var isHealthy: Bool { !checks.contains { $0.outcome == .failed } }

    /// A line for each check, followed by a line with the next step if there is one.
    package var text: String {
        checks.map { check in
            let mark =
                switch check.outcome {
                case .ok: "ok     "
                case .warning: "WARNING"
                case .failed: "FAILED "
                case .skipped: "skipped"
                }
            let subject = check.subject.map { " (\($0))" } ?? ""
            let next = check.nextStep.map { "\n         → \($0)" } ?? ""
            return "\(mark)  \(check.name)\(subject): \(check.detail)\(next)"
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
