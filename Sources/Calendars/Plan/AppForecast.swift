internal import APNsWire
package import Foundation
package import Grandstand
package import JSON

/// The most channels that an app will hold at once in one environment.
package struct AppForecast: Sendable, Hashable {
    package var app: AppEnvironment
    /// The most channels that Grandstand may have in this app and environment.
    package var limit: Int
    /// Channels at Apple that Grandstand does not manage. They count against Apple's limit.
    package var unmanaged: Int
    package var forecast: Forecast

    /// - Parameter quota: a quota as the API returns it.
    /// - Returns: `nil`: the value is not a quota.
    package init?(quota: JSONValue) {
        guard let bundleID = quota["bundleId"]?.string.flatMap(BundleID.init),
            let environment = quota["environment"]?.string.flatMap(APNsEnvironment.init),
            let limit = quota["limit"]?.count, let unmanaged = quota["unmanaged"]?.count,
            let forecast = quota["forecast"], let peak = forecast["peak"]?.count,
            let peakAt = forecast["peakAt"]?.string.flatMap(RFC3339.date)
        else { return nil }
        app = AppEnvironment(bundleID: bundleID, environment: environment)
        self.limit = Quota.capacity(limit: limit, unmanaged: unmanaged)
        self.unmanaged = unmanaged
        self.forecast = Forecast(
            peak: peak, peakAt: peakAt, exceedsAt: forecast["exceedsAt"]?.string.flatMap(RFC3339.date))
    }

    /// The forecast after a plan is applied: the server's present forecast, changed by the difference that the plan
    /// makes. The difference is computed with the server's rule, `ChannelTenure`, and its default times.
    ///
    /// - Parameter events: all open events, including those of no season.
    package func after(
        _ plan: CalendarPlan, events: [EventKey: SeasonEvent], documents: EventDocuments, now: Date
    ) -> AppForecast {
        var planned = events
        for cancellation in plan.cancel { planned[cancellation.event.key] = nil }
        for write in plan.create + plan.change {
            planned[write.key] = SeasonEvent(
                key: write.key, document: write.document, state: .scheduled,
                createdAt: write.present?.createdAt ?? now, updatedAt: now)
        }
        let old = Forecast(spans: spans(events, documents, now), limit: .max, now: now)
        let spans = spans(planned, documents, now)
        var new = Forecast(spans: spans, limit: .max, now: now)
        // The channels in the server's forecast that do not come from open events: channels without an event, and
        // channels that are kept after their event.
        let others = forecast.peak - old.peak
        guard new != old else { return self }
        let exceedsAt = Forecast(spans: spans, limit: max(0, limit - others), now: now).exceedsAt
        new.peak = max(0, new.peak + others)
        new.exceedsAt = exceedsAt
        var after = self
        after.forecast = new
        return after
    }

    private func spans(
        _ events: [EventKey: SeasonEvent], _ documents: EventDocuments, _ now: Date
    ) -> [Forecast.Span] {
        let tenure = ChannelTenure()
        var spans: [Forecast.Span] = []
        for event in events.values where !event.state.isOver {
            guard let specification = try? documents.read(event.key, event.document) else { continue }
            let course = ChannelTenure.Course(
                createdAt: event.createdAt, channelsOpenAt: specification.opensAt, startsAt: specification.startsAt,
                endsAt: specification.endsAt)
            for audience in specification.audiences where audience.app == app && audience.delivery == .channel {
                let opensAt = specification.opensAt ?? event.createdAt
                spans.append(
                    Forecast.Span(
                        opensAt: opensAt,
                        closesAt: tenure.frees(course, storagePolicy: audience.storagePolicy, now: now),
                        isHeld: opensAt <= now))
            }
        }
        return spans
    }
}

extension AppForecast: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("bundleId", app.bundleID.rawValue)
        object.member("environment", app.environment.rawValue)
        object.member("limit", limit)
        object.member("unmanaged", unmanaged)
        object.member("peak", forecast.peak)
        object.member("peakAt", forecast.peakAt)
        object.member("exceedsAt", forecast.exceedsAt)
    }
}

extension JSONValue {
    fileprivate var count: Int? { if case .number(let text) = kind { Int(text) } else { nil } }
}
