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

    /// The points of a line, as numbers.
    private static func points(_ line: QuotaPlot.Line) -> [[Int]] {
        line.points.split(separator: " ").map { $0.split(separator: ",").compactMap { Int($0) } }
    }

    @Test func `missing samples are a gap in the line`() throws {
        let samples = try [(-60, 10), (-55, 12), (-20, 30), (-5, 40)].map { try Self.sample($0.0, $0.1) }
        let quota = try Samples().quota([.active: 50], limit: 100, unmanaged: 0, exceedsAt: nil)
        let plot = QuotaPlot(quota, samples, step: 300, span: 3_600, now: Samples.now)
        #expect(plot.history.map { Self.points($0).count } == [2, 1, 2])
        // The last line ends at the present time, with the present number.
        #expect(Self.points(plot.history[2]).last?.first == plot.nowX)
        #expect(plot.numbers.texts("Which").filter { $0 == "was" }.count == 4)
    }
}
