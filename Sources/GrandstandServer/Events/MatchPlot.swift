internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A plot of one event over time: how long each message took from acceptance by this server to Apple's answer. The
/// timeline has the same numbers. The plot is a pure function of the messages.
struct MatchPlot: Sendable {
    struct Point: Sendable, Equatable {
        let x: Int
        let y: Int
        /// `accepted` or `rejected`
        let kind: String
        /// The text of the tooltip.
        let tip: String
    }

    let answers: [Point]
    let durations: [PlotTick]
    let times: [PlotTick]
    let plotSummary: String

    // The template has these sizes, too.
    private static let width = 760
    private static let height = 116
    private static let left = 52
    private static let top = 10
    private static let bottom = MatchPlot.height - 22

    /// The maximum number of messages in the plot. It is smaller for more audiences, because each message has a
    /// delivery for each audience.
    static func length(audiences: Int) -> Int { min(200, max(20, 2_000 / max(1, audiences))) }

    /// - Parameters:
    ///   - broadcasts: in any order.
    ///   - now: the end of the drawing; `nil`: the last message, because the event is over.
    /// - Returns: `nil` if Apple has not answered any message yet.
    init?(_ broadcasts: [Contract.Broadcast], until now: Date?) {
        let all = broadcasts.compactMap(Self.answer).sorted { $0.at < $1.at }
        guard let first = all.first, let last = all.last, let fastest = all.map(\.milliseconds).min(),
            let slowest = all.map(\.milliseconds).max()
        else { return nil }
        let from = first.at
        let span = max(60, max(last.at, now ?? last.at).timeIntervalSince(from))
        func x(_ date: Date) -> Int {
            let room = Double(Self.width - 14 - Self.left)
            return Self.left + 3 + Int(date.timeIntervalSince(from) / span * room)
        }
        // The scale has tens: most answers take tens of milliseconds, and the slow ones that matter take seconds.
        let lowest = Int(Self.tens(fastest))
        let highest = max(Int(Self.tens(slowest).rounded(.up)), lowest + 1)
        func y(_ milliseconds: Int) -> Int {
            let share = (Self.tens(milliseconds) - Double(lowest)) / Double(highest - lowest)
            return Self.bottom - Int(share * Double(Self.bottom - Self.top))
        }
        answers = all.map { answer in
            Point(
                x: x(answer.at), y: y(answer.milliseconds), kind: answer.isRefused ? "rejected" : "accepted",
                tip: "\(Moment(answer.at, exact: true).text): \(Self.words(answer.milliseconds))"
                    + (answer.isRefused ? ", refused" : ""))
        }
        durations = (lowest...highest).map { power in
            let value = (0..<power).reduce(1) { value, _ in value * 10 }
            return PlotTick(position: y(value), text: Self.words(value), iso: nil)
        }
        times = [0.1, 0.37, 0.63, 0.9].map { share in
            let at = from.addingTimeInterval(share * span)
            let iso = RFC3339.text(at)
            return PlotTick(position: x(at), text: String(iso.dropFirst(11).prefix(5)), iso: iso)
        }
        let sorted = all.map(\.milliseconds).sorted()
        let refused = all.count(where: \.isRefused)
        plotSummary =
            "\(Wording.count(all.count, "message")), half of them within \(Self.words(sorted[(sorted.count - 1) / 2])), the "
            + "slowest \(Self.words(slowest))" + (refused > 0 ? ", \(Wording.number(refused)) refused" : "")
    }

    private typealias Answer = (at: Date, milliseconds: Int, isRefused: Bool)

    /// The slowest answer to a message among its audiences.
    private static func answer(_ broadcast: Contract.Broadcast) -> Answer? {
        let all = broadcast.deliveries.compactMap(\.answerMilliseconds)
        guard let slowest = all.max() else { return nil }
        return (
            at: max(broadcast.acceptedAt, broadcast.sendAt ?? broadcast.acceptedAt), milliseconds: slowest,
            isRefused: broadcast.deliveries.contains { $0.state == .rejected }
        )
    }

    /// `41 ms`, `1.2 s`
    private static func words(_ milliseconds: Int) -> String {
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let tenths = (milliseconds + 50) / 100
        let whole = Wording.number(tenths / 10)
        return (tenths.isMultiple(of: 10) ? whole : "\(whole).\(tenths % 10)") + " s"
    }

    /// How many tens are multiplied in a number, with a fraction: 10 is 1, 55 is 1.5, 100 is 2.
    private static func tens(_ value: Int) -> Double {
        var (whole, power) = (0, 1)
        while power * 10 <= value { (whole, power) = (whole + 1, power * 10) }
        return Double(whole) + Double(max(0, value - power)) / Double(9 * power)
    }
}
