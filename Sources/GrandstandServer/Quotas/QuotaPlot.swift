internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// A drawing and a table of an app's channel places in one environment: the past, now, the forecast from declared
/// events, and the limit. The plot is a pure function of the values that `init` gets.
struct QuotaPlot: Sendable {
    /// The ID of the drawing's title element.
    let id: String
    let heading: String
    let summary: String
    /// `x,y x,y …`
    let history: String
    let forecast: String
    let nowX: Int
    /// The position of the limit's line; `nil`: the limit is so far above the curve that a line for the limit would
    /// make the curve flat. In this case, the legend names the limit.
    let limitY: Int?
    let limitText: String
    let valueTicks: [(position: Int, text: String)]
    /// The times are in RFC 3339 format, too, so that the page's script can show them in the reader's zone.
    let timeTicks: [(position: Int, text: String, iso: String)]
    /// The numbers of the drawing as a table.
    let numbers: Table

    /// - Parameters:
    ///   - samples: the samples of the app and environment, the oldest first.
    ///   - span: the seconds shown before `now`, and also after `now`.
    init(_ quota: Quota, _ samples: [Contract.QuotaSample], span: TimeInterval, now: Date) {
        let app = quota.app
        let taken = quota.taken
        let past: [Point] = samples.map { (at: $0.at, count: $0.peak) } + [(at: now, count: taken)]
        let changes = Forecast.course(spans: quota.stays, limit: quota.capacity, now: now)
        let coming = [(at: now, count: taken)] + changes.filter { $0.at > now && $0.at <= now + span }
        let most = max(1, (past + coming).map(\.count).max() ?? 1)
        let limit = quota.capacity
        let isLimitNear = limit <= 4 * most
        // It is even, because the axis also has a label at half of it.
        let top = 2 + (isLimitNear ? max(limit, most) : most) * 11 / 20 * 2
        // The drawing is between 48 and 712 in width, and between 12 and 196 in height, as in the template.
        func x(_ date: Date) -> Int { 48 + Int((date.timeIntervalSince(now) + span) / (2 * span) * 664) }
        func y(_ count: Int) -> Int { 196 - 184 * count / top }
        id = "plot-\(app.environment.rawValue)-\(app.bundleID.topic)"
        heading = "\(app.bundleID), \(app.environment.rawValue)"
        limitText = Wording.number(limit)
        limitY = isLimitNear ? y(limit) : nil
        nowX = x(now)
        func line(_ points: [Point]) -> String { points.map { "\(x($0.at)),\(y($0.count))" }.joined(separator: " ") }
        history = line(past)
        // Of the counts that are drawn at one place the highest and the last are enough.
        let drawn = Dictionary(grouping: coming) { x($0.at) }.sorted { $0.key < $1.key }.flatMap { _, points in
            [points.max { $0.count < $1.count }, points.last].compactMap(\.self)
        }
        forecast = line(Self.stairs(drawn, until: now + span))
        valueTicks = [0, top / 2, top].map { (y($0), Wording.number($0)) }
        timeTicks = [-0.75, -0.25, 0.25, 0.75].map { share in
            // `11-21`, in UTC.
            let at = now.addingTimeInterval(share * span)
            let iso = RFC3339.text(at)
            return (x(at), String(iso.dropFirst(5).prefix(5)), iso)
        }
        summary =
            "\(Wording.number(taken)) of \(Wording.number(limit)) places are taken; the highest forecast is "
            + "\(Wording.number(quota.forecast.peak)) at \(Moment(quota.forecast.peakAt).text)."
        // The sample of the present hour has the hour's end as its time.
        let was = Self.listed(past.dropLast()).map { ($0.at, $0.count, "was") }
        let foreseen = Self.listed(coming.dropFirst()).map { ($0.at, $0.count, "foreseen") }
        numbers = Table(
            "Places taken, \(heading)", was + [(now, taken, "now")] + foreseen,
            [
                Column("Time") { [.moment($0.0)] },
                Column("Taken") { [.words(Wording.number($0.1))] }, Column("Which") { [.words($0.2)] },
            ])
    }

    private typealias Point = (at: Date, count: Int)

    /// A step curve: a count stays the same until the next count.
    private static func stairs(_ points: [Point], until end: Date) -> [Point] {
        points.prefix(1) + zip(points, points.dropFirst()).flatMap { [(at: $1.at, count: $0.count), $1] }
            + points.suffix(1).map { (at: end, count: $0.count) }
    }

    /// At most 24 points at equal distances, so that the table can be read aloud.
    private static func listed(_ points: ArraySlice<Point>) -> [Point] {
        let stride = max(1, (points.count + 23) / 24)
        return points.enumerated().filter { $0.offset.isMultiple(of: stride) }.map(\.element)
    }
}
