internal import APNsWire
internal import Grandstand
internal import GrandstandContract

extension Contract.Readiness {
    /// The readiness of this process, from the database's troubles, this machine's clock, and the last known state of APNs.
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
        // `detail` contains no host names, because anybody may read it.
        self.init(
            status: isReady ? .ready : .notReady, database: isReady ? .ok : .unavailable,
            trouble: finding?.trouble, detail: finding?.detail,
            apns: .init(
                development: gateway.reachability(of: .development),
                production: gateway.reachability(of: .production)))
    }
}
