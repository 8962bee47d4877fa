internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct ForecastTests {
    private let now = Date(timeIntervalSince1970: 0)

    private func span(_ opens: TimeInterval, _ closes: TimeInterval?) -> Forecast.Span {
        Forecast.Span(
            opensAt: Date(timeIntervalSince1970: opens), closesAt: closes.map { Date(timeIntervalSince1970: $0) })
    }

    @Test("the peak is where most spans overlap")
    func peak() {
        let forecast = Forecast(held: 1, spans: [span(10, 30), span(20, 40), span(30, 50)], limit: 100, now: now)
        #expect(forecast == Forecast(peak: 3, peakAt: Date(timeIntervalSince1970: 20), exceedsAt: nil))
    }

    @Test("the first moment above the limit is told")
    func exceeds() {
        let forecast = Forecast(held: 0, spans: [span(10, nil), span(20, nil), span(30, nil)], limit: 2, now: now)
        #expect(forecast.exceedsAt == Date(timeIntervalSince1970: 30))
        #expect(forecast.peak == 3)
    }

    @Test("what is over does not count, what is open counts from now")
    func past() {
        let forecast = Forecast(held: 0, spans: [span(-20, -10), span(-5, nil)], limit: 1, now: now)
        #expect(forecast == Forecast(peak: 1, peakAt: now, exceedsAt: nil))
    }
}
