internal import APNsWire
internal import Grandstand
internal import GrandstandContract

extension Contract.Readiness {
    /// The readiness of this process, from the database's troubles, this machine's clock, and the last known state of APNs.
    init(_ standing: [DatabaseWatch.Standing], _ clock: DatabaseClock, _ gateway: APNsClient) {
        let words = "this machine's clock is \(DatabaseClock.words(clock.skew)): set both by NTP"
        let ofClock = clock.wallState == .right ? nil : DatabaseFinding(.clockOff, detail: words)
        let stopping = standing.first(where: \.stops)?.finding ?? (clock.wallState == .unusable ? ofClock : nil)
        let finding = stopping ?? standing.first?.finding ?? ofClock
        // `detail` contains no host names, because anybody may read it.
        self.init(
            status: stopping == nil ? .ready : .notReady, database: stopping == nil ? .ok : .unavailable,
            trouble: finding?.trouble, detail: finding?.detail,
            apns: .init(
                development: gateway.reachability(of: .development),
                production: gateway.reachability(of: .production)))
    }
}
