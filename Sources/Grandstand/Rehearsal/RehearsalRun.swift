package import FoundationEssentials

/// The results of one run of a rehearsal: the report's arithmetic. Pure.
package struct RehearsalRun: Sendable {
    package struct Gap: Sendable, Hashable {
        package var seconds: TimeInterval
        package var eventKey: String
        /// In the day's time.
        package var at: Date
    }

    /// An event whose channels did not all get the newest state.
    package struct Loss: Sendable, Hashable {
        package var eventKey: String
        package var channels: Int
    }

    /// The fault as it happened; its moment in the day's time.
    package var fault: RehearsalFault?
    /// How long the run took.
    package var seconds: TimeInterval
    package var places: [RehearsalPlaces]
    /// Messages the server accepted.
    package var accepted: Int
    /// Messages that Apple accepted, counted on each channel.
    package var arrived: Int
    package var messagesPerSecond: Int
    /// Deliveries by state, in order of the words.
    package var outcomes: [(String, Int)]
    package var starts: StartReport.Counts
    package var startsPerSecond: Int
    /// Seconds from acceptance to Apple, ascending.
    package var delays: [TimeInterval]
    package var gap: Gap?
    package var lost: [Loss]
    /// Their moments in the day's time.
    package var refusals: [RehearsalRecord.Refusal]

    package init(_ record: RehearsalRecord, of plan: RehearsalPlan, limits: [AppEnvironment: Int]) {
        func key(_ event: Int) -> String { plan.scripts[event].event.key }
        let delays = RehearsalDelays(record)
        fault = record.fault
        fault?.at = plan.time(at: record.fault?.at ?? record.base, since: record.base)
        seconds = record.finishedAt.timeIntervalSince(record.base)
        places = RehearsalPlaces.all(of: record, plan, limits: limits)
        accepted = record.messages.count
        arrived = record.arrivals.count
        messagesPerSecond = RehearsalRate.peak(record.arrivals.map(\.at))
        outcomes = record.outcomes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        starts = record.startCounts
        startsPerSecond = RehearsalRate.peak(record.starts)
        self.delays = delays.seconds
        gap = delays.gap.map { gap in
            Gap(seconds: gap.seconds, eventKey: key(gap.event), at: plan.time(at: gap.since, since: record.base))
        }
        lost = delays.behind.sorted { $0.key < $1.key }.map { Loss(eventKey: key($0.key), channels: $0.value) }
        refusals = record.refusals.sorted { ($0.at, $0.eventKey) < ($1.at, $1.eventKey) }.map { refusal in
            var refusal = refusal
            refusal.at = plan.time(at: refusal.at, since: record.base)
            return refusal
        }
    }

    /// `nil`: nothing reached Apple.
    package var percentiles: Percentiles? {
        Percentiles(Dictionary(delays.map { ($0, 1) }, uniquingKeysWith: +))
    }
}

/// A rehearsed day, without a fault and with one.
package struct RehearsalReport: Sendable {
    /// As the caller wrote it: `2026-11-28`.
    package var day: String
    /// The time zone's name, as the caller wrote it.
    package var zone: String
    package var timeZone: TimeZone
    package var plan: RehearsalPlan
    package var messages: Int
    package var phones: Int
    package var runs: [RehearsalRun]

    package init(
        day: String, zone: String, timeZone: TimeZone, plan: RehearsalPlan, messages: Int, phones: Int,
        runs: [RehearsalRun]
    ) {
        self.day = day
        self.zone = zone
        self.timeZone = timeZone
        self.plan = plan
        self.messages = messages
        self.phones = phones
        self.runs = runs
    }

    package var played: [RehearsalEvent] { plan.scripts.filter(\.isPlayed).map(\.event) }
    package var notices: [RehearsalNotice] { RehearsalNotice.all(of: played) }
    package var others: Int { plan.scripts.count { !$0.isPlayed } }
}
