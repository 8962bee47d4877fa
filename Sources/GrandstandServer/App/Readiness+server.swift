internal import APNsWire
internal import Grandstand

extension Readiness {
    /// The readiness from the database's troubles, this machine's clock, and the last known state of APNs.
    init(_ standing: [DatabaseWatch.Standing], _ clock: DatabaseClock, _ gateway: APNsClient) {
        let stopping = standing.first(where: \.stops)?.finding
        let (finding, isReady): (DatabaseFinding?, Bool) =
            switch (stopping, clock.standing) {
            case (let stopping?, _): (stopping, false)
            case (nil, .unusable): (DatabaseFinding(.clockOff), false)
            case (nil, .off):
                (
                    standing.first?.finding
                        ?? DatabaseFinding(
                            .clockOff,
                            detail: "this machine's clock is \(DatabaseClock.words(clock.lead)): set both by NTP"),
                    true
                )
            case (nil, .right): (standing.first?.finding, true)
            }
        self.init(
            database: isReady, trouble: finding?.trouble, detail: finding?.detail, apns: Self.apns(gateway))
    }

    private static func apns(_ gateway: APNsClient) -> [APNsEnvironment: APNsState] {
        let apns = APNsEnvironment.allCases.map { ($0, APNsState(gateway.reachability(of: $0))) }
        return Dictionary(uniqueKeysWithValues: apns)
    }
}

extension Readiness.APNsState {
    fileprivate init(_ reachability: APNsReachability) {
        switch reachability {
        case .unknown: self.init(Word.unknown)
        case .reachable: self.init(Word.reachable)
        case .refused(let credentials, let refusal):
            self.init(Word.refused, reason: refusal.finding(of: credentials))
        case .unreachable(let reason): self.init(Word.unreachable, reason: reason)
        }
    }
}
