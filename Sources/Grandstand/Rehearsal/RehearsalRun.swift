package import FoundationEssentials

/// The results of one run of a rehearsal, computed for the report. Pure.
package struct RehearsalRun: Sendable {
    package struct Gap: Sendable, Hashable {
        package var seconds: TimeInterval
        package var eventKey: String
        /// When the gap began, on the clock of the rehearsed day.
        package var at: Date
    }

    /// An event whose channels did not all get the newest state.
    package struct Loss: Sendable, Hashable {
        package var eventKey: String
        package var channels: Int
    }

    /// A place in contents that versions of the app cannot decode, with its first occurrence.
    package struct Fault: Sendable, Hashable {
        package var detail: String
        package var count: Int
        package var eventKey: String
        /// When the fault first occurred, on the clock of the rehearsed day.
        package var at: Date
    }

    /// Messages of priority 10.
    package struct Urgent: Sendable, Hashable {
        package var count = 0
        /// The most of these messages for one event within an hour of the day.
        package var mostPerHour = 0
        /// The key of the event that had `mostPerHour` messages in an hour; `nil`: there were no messages of priority
        /// 10.
        package var eventKey: String?
        /// When the hour with `mostPerHour` messages began, on the clock of the rehearsed day.
        package var from: Date?
    }

    /// The fault of this run. Its time is on the clock of the rehearsed day.
    package var fault: RehearsalFault?
    /// How long the run took.
    package var seconds: TimeInterval
    package var places: [RehearsalPlaces]
    /// Messages that the server accepted.
    package var accepted: Int
    /// Messages that Apple accepted, counted on each channel.
    package var arrived: Int
    package var messagesPerSecond: Int
    /// The number of deliveries in each state, ordered by name.
    package var outcomes: [(String, Int)]
    /// The number of reported states with each outcome, in the order of `StateOutcome`.
    package var states: [(String, Int)]
    package var urgent: Urgent
    /// Contents that were checked by a content type.
    package var checked: Int
    /// The checked contents that a version cannot decode.
    package var undecodable: Int
    package var faults: [Fault]
    package var starts: StartReport.Counts
    package var startsPerSecond: Int
    /// Seconds from the server's acceptance of a message to Apple's acceptance, ascending.
    package var delays: [TimeInterval]
    package var gap: Gap?
    package var lost: [Loss]
    /// The calls that the server refused and the channels that did not exist. Their times are on the clock of the
    /// rehearsed day.
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
        let states = Dictionary(record.decisions.compactMap(\.outcome).map { ($0, 1) }, uniquingKeysWith: +)
        self.states = StateOutcome.allCases.compactMap { outcome in states[outcome].map { (outcome.rawValue, $0) } }
        urgent = Urgent(record, of: plan)
        checked = record.decisions.count { plan.scripts[$0.event].event.hasContentType }
        undecodable = record.decisions.count { !$0.faults.isEmpty }
        faults = Fault.all(of: record, plan)
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

extension RehearsalRun.Fault {
    fileprivate static func all(of record: RehearsalRecord, _ plan: RehearsalPlan) -> [Self] {
        var faults: [Self] = []
        for decision in record.decisions.sorted(by: { plan.time(of: $0) < plan.time(of: $1) }) {
            for detail in decision.faults {
                if let place = faults.firstIndex(where: { $0.detail == detail }) {
                    faults[place].count += 1
                } else {
                    faults.append(
                        Self(
                            detail: detail, count: 1, eventKey: plan.scripts[decision.event].event.key,
                            at: plan.time(of: decision)))
                }
            }
        }
        return faults
    }
}

extension RehearsalRun.Urgent {
    fileprivate init(_ record: RehearsalRecord, of plan: RehearsalPlan) {
        let urgent = record.decisions.filter(\.isUrgent)
        count = urgent.count
        for (event, decisions) in Dictionary(grouping: urgent, by: \.event).sorted(by: { $0.key < $1.key }) {
            let times = decisions.map { plan.time(of: $0) }.sorted()
            for (index, time) in times.enumerated() {
                let hour = times[index...].prefix { $0.timeIntervalSince(time) < 3_600 }.count
                guard hour > mostPerHour else { continue }
                (mostPerHour, eventKey, from) = (hour, plan.scripts[event].event.key, time)
            }
        }
    }
}

extension RehearsalPlan {
    /// When a message was due, on the clock of the rehearsed day.
    fileprivate func time(of decision: RehearsalRecord.Decision) -> Date {
        scripts[decision.event].messages.first { $0.number == decision.number }?.at ?? begins
    }
}

/// The report on a rehearsed day: its runs, without a fault and with a fault.
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
