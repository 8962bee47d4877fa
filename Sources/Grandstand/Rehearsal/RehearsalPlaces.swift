internal import APNsWire
package import FoundationEssentials

/// The places in Apple's channel limit that an app uses during the day. Pure.
package struct RehearsalPlaces: Sendable, Hashable {
    /// The most places within an hour of the day.
    package struct Hour: Sendable, Hashable {
        package var from: Date
        package var places: Int
    }

    package var app: AppEnvironment
    package var limit: Int
    package var peak: Int
    /// When the most places are used, on the clock of the rehearsed day.
    package var peakAt: Date
    package var hours: [Hour]

    /// The places of each app and environment in `limits`, in the order of their names.
    package static func all(
        of record: RehearsalRecord, _ plan: RehearsalPlan, limits: [AppEnvironment: Int]
    ) -> [RehearsalPlaces] {
        let changes = Dictionary(grouping: record.placeChanges, by: \.app)
        return limits.keys.sorted {
            ($0.bundleID.rawValue, $0.environment.rawValue) < ($1.bundleID.rawValue, $1.environment.rawValue)
        }.map { app in
            RehearsalPlaces(
                app: app, limit: limits[app] ?? 0,
                changes: (changes[app] ?? []).map { (plan.time(at: $0.at, since: record.base), $0.by) },
                from: plan.begins, until: plan.ends)
        }
    }

    /// - Parameter changes: on the clock of the rehearsed day. Changes before `from` count at `from`.
    init(app: AppEnvironment, limit: Int, changes: [(at: Date, by: Int)], from: Date, until: Date) {
        self.app = app
        self.limit = limit
        peak = 0
        peakAt = from
        var most: [Int: Int] = [:]
        var count = 0
        var lastHour = 0
        for change in changes.map({ (max($0.at, from), $0.by) }).sorted(by: { $0 < $1 }) where change.0 <= until {
            let hour = Int(change.0.timeIntervalSince(from) / 3_600)
            // Places that are held when an hour begins count in that hour, too.
            for quiet in lastHour...max(lastHour, hour) { most[quiet] = max(most[quiet] ?? 0, count) }
            lastHour = hour
            count += change.1
            most[hour] = max(most[hour] ?? 0, count)
            if count > peak { (peak, peakAt) = (count, change.0) }
        }
        let hours = max(1, Int((until.timeIntervalSince(from) / 3_600).rounded(.up)))
        self.hours = (0..<hours).map { hour in
            let places = most[hour] ?? (hour > lastHour ? count : 0)
            return Hour(from: from.addingTimeInterval(Double(hour) * 3_600), places: places)
        }
    }
}
