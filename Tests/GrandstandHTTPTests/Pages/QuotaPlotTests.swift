internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// A plot's coordinates.
struct QuotaPlotTests {
    private static func sample(_ minutes: Double, _ peak: Int) throws -> QuotaSample {
        QuotaSample(
            bundleID: try Samples().bundleID, environment: .production,
            at: Samples.now.addingTimeInterval(60 * minutes), used: peak, reserved: 0, peak: peak, limit: 100,
            created: 0, deleted: 0)
    }

    private static func quota(limit: Int, course: [(Double, Int)] = []) throws -> Quota {
        var quota = try Samples().quota([.active: 50], limit: limit, unmanaged: 0, exceedsAt: nil)
        quota.course = course.map { Forecast.Point(at: Samples.now.addingTimeInterval(60 * $0.0), count: $0.1) }
        return quota
    }

    /// The points of a line, as numbers.
    private static func points(_ line: QuotaPlot.Line) -> [[Int]] {
        line.points.split(separator: " ").map { $0.split(separator: ",").compactMap { Int($0) } }
    }

    @Test func `missing samples are a gap in the line`() throws {
        let samples = try [(-60, 10), (-55, 12), (-20, 30), (-5, 40)].map { try Self.sample($0.0, $0.1) }
        let plot = QuotaPlot(try Self.quota(limit: 100), samples, step: 300, span: 3_600, now: Samples.now)
        #expect(plot.history.map { Self.points($0).count } == [2, 1, 2])
        // The last line ends at the present time, with the present number.
        #expect(Self.points(plot.history[2]).last?.first == plot.nowX)
        #expect(plot.numbers.texts("Which").filter { $0 == "was" }.count == 4)
    }

    @Test func `a forecast stays the same until it changes, up to the end`() throws {
        let plot = QuotaPlot(
            try Self.quota(limit: 100, course: [(10, 60), (20, 20), (90, 99)]), [], step: 300, span: 3_600,
            now: Samples.now)
        let points = Self.points(plot.forecast)
        #expect(points.count == 6)
        #expect(points[1][1] == points[0][1] && points[2][0] == points[1][0])
        #expect(points.last?[0] == plot.right)
        #expect(points.allSatisfy { $0[0] >= plot.left && $0[0] <= plot.right })
        #expect(points.allSatisfy { $0[1] >= 0 && $0[1] <= plot.bottom })
    }
}
