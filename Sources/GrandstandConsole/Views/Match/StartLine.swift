internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// What has become of an event's start in one app and environment.
struct StartLine: Sendable {
    let audience: String
    let startState: String
    let followers: String
    let accepted: String
    let confirmed: String
    let rejected: String
    let unknown: String
    let pending: String
    /// Who follows and gets none, and why.
    let ineligible: String
    let reasons: String
    let startedAt: Moment?
    let finishedAt: Moment?

    init(_ start: AudienceStart) {
        let (audience, report) = start
        let counts = report.counts
        self.audience = [audience.bundleID.rawValue, audience.environment.rawValue, audience.variant?.rawValue]
            .compactMap(\.self).joined(separator: ", ")
        startState = report.state.rawValue
        followers = Wording.number(counts.followers)
        accepted = Wording.number(counts.accepted)
        confirmed = Wording.number(counts.confirmed)
        rejected = Wording.number(counts.rejected)
        unknown = Wording.number(counts.unknown)
        pending = Wording.number(counts.pending)
        ineligible = StartForm.Ineligible.allCases.compactMap { why in
            counts.ineligible[why].flatMap { $0 > 0 ? "\(Wording.number($0)) \(why.rawValue)" : nil }
        }.joined(separator: ", ")
        reasons = report.byReason.sorted { $0.key < $1.key }.map { "\(Wording.number($0.value)) \($0.key)" }
            .joined(separator: ", ")
        startedAt = report.startedAt.map { Moment($0) }
        finishedAt = report.finishedAt.map { Moment($0) }
    }
}
