internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.StartReport {
    /// The report of an event's start: in total and for each audience.
    init(_ reports: [(audience: Audience, report: StartReport)], now: Date) {
        let all = StartReport(of: reports.map(\.report))
        self.init(
            state: .init(all.state), waitingFor: all.waitingFor.map(Contract.StartWait.init), startedAt: all.startedAt,
            finishedAt: all.finishedAt, counts: .init(all.counts), byReason: all.byReason,
            perSecond: all.perSecond(at: now)?.tenths, by: all.by,
            audiences: reports.map { Contract.AudienceStart($0.audience, $0.report, now: now) })
    }
}

extension Contract.AudienceStart {
    fileprivate init(_ audience: Audience, _ report: StartReport, now: Date) {
        self.init(
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, state: .init(report.state),
            waitingFor: report.waitingFor.map(Contract.StartWait.init), startedAt: report.startedAt,
            finishedAt: report.finishedAt, counts: .init(report.counts), byReason: report.byReason,
            perSecond: report.perSecond(at: now)?.tenths)
    }
}

extension Contract.StartCounts {
    fileprivate init(_ counts: StartReport.Counts) {
        func count(_ reason: StartForm.Ineligible) -> Int { counts.ineligible[reason] ?? 0 }
        self.init(
            followers: counts.followers, accepted: counts.accepted, confirmed: counts.confirmed,
            rejected: counts.rejected, unknown: counts.unknown, pending: counts.pending,
            ineligible: .init(
                system: count(.system), disabled: count(.disabled), noToken: count(.noToken), tooLate: count(.tooLate)))
    }
}

extension Contract.FollowedTopic {
    init(_ topic: TopicFollowers) { self.init(topic: topic.topic.rawValue, followers: topic.followers) }
}
