internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// What leaves with the commit, by the rules of a claim (`PostgresOutbox.takeHeads`), for the one case that needs no
/// second look: a lane with nothing else pending gets one message it may send now.
extension Acceptance {
    /// A lane that may send as soon as it has something.
    struct IdleLane {
        /// `aps.timestamp` of its last message; 0 before the first.
        let lastTimestamp: Int
    }

    /// How one message leaves.
    struct Departure {
        let claim: LaneClaim
        let timestamp: Int
    }

    /// Chooses what departs: as many messages as have a place, the urgent first. The others stay queued.
    ///
    /// What came may have waited for others, so the time that counts is the claim's.
    mutating func depart(by departures: any Departures) {
        let perLane = Dictionary(deliveries.map { ($0.lane, 1) }, uniquingKeysWith: +)
        let alone = deliveries.filter { $0.idle != nil && $0.channelID != nil && perLane[$0.lane] == 1 }
        for (environment, rows) in Dictionary(grouping: alone, by: \.audience.environment) {
            guard let claim = departures.claim(rows.count, in: environment) else { continue }
            let clock = Int(claim.at.timeIntervalSince1970.rounded(.down))
            let ordered = rows.filter { urgent.contains($0.lane) } + rows.filter { !urgent.contains($0.lane) }
            // What goes without its alert is a claim's to decide.
            for row in ordered.prefix(claim.limit)
            where row.expiresAt > claim.at && row.ringsUntil ?? .distantFuture > claim.at {
                guard let idle = row.idle, idle.lastTimestamp < clock + PostgresOutbox.timestampLead else { continue }
                leave(row, Departure(claim: claim, timestamp: max(clock, idle.lastTimestamp + 1)))
            }
        }
    }

    /// Environments in which everything that is new departs: nobody needs to look for the rest.
    var departedWhole: Set<APNsEnvironment> {
        let all = Dictionary(grouping: deliveries, by: \.audience.environment)
        return Set(all.filter { $0.value.allSatisfy { self.departures[$0.lane] != nil } }.keys)
    }
}
