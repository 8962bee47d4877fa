internal import APNsWire
internal import FoundationEssentials

/// The changes of a sync, made or to be made, and their effect on the apps' places.
package struct CalendarReport: Sendable {
    package var plan: CalendarPlan
    /// Of the apps and environments of the calendar, before and after.
    package var forecasts: [Foreseen]

    package init(plan: CalendarPlan, forecasts: [Foreseen]) {
        self.plan = plan
        self.forecasts = forecasts
    }

    /// An app's forecast before and after.
    package struct Foreseen: Sendable, Hashable {
        package var app: AppEnvironment
        /// Places for channels of ours.
        package var limit: Int
        /// Channels at Apple that are not ours, for which the limit may be less than the app's.
        package var unmanaged: Int
        package var before: Forecast
        package var after: Forecast

        package init(app: AppEnvironment, limit: Int, unmanaged: Int, before: Forecast, after: Forecast) {
            self.app = app
            self.limit = limit
            self.unmanaged = unmanaged
            self.before = before
            self.after = after
        }
    }

    /// Of each app and environment of the calendar that is registered.
    package static func forecasts(_ apps: [AppEnvironment], before: [Quota], after: [Quota]) -> [Foreseen] {
        func find(_ quotas: [Quota], _ app: AppEnvironment) -> Quota? {
            quotas.first { $0.bundleID == app.bundleID && $0.environment == app.environment }
        }
        return apps.compactMap { app in
            guard let old = find(before, app), let new = find(after, app) else { return nil }
            return Foreseen(
                app: app, limit: new.capacity, unmanaged: new.unmanaged, before: old.forecast, after: new.forecast)
        }
    }
}

extension CalendarReport: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.array("create", plan.create) { writer, write in
            writer.object { Self.identify(&$0, write.uid, write.specification) }
        }
        object.objects("change", plan.change) { change, write in
            Self.identify(&change, write.uid, write.specification)
            change.object("fields") { fields in
                for field in write.fields {
                    fields.name(dynamic: field.name)
                    fields.array([field.old, field.new]) { writer, value in
                        if let value { writer.raw(value) } else { writer.null() }
                    }
                }
            }
        }
        object.objects("cancel", plan.cancel) { event, cancellation in
            Self.identify(&event, cancellation.uid, cancellation.event.specification)
            event.member("reason", cancellation.reason.rawValue)
        }
        object.member("unchanged", plan.unchanged)
        object.member("past", plan.past)
        object.member("problems", plan.problems)
        object.object("forecast") { forecast in
            forecast.array("before", forecasts) { Self.write($1, $1.before, to: &$0) }
            forecast.array("after", forecasts) { Self.write($1, $1.after, to: &$0) }
        }
    }

    private static func identify(_ json: inout JSONWriter, _ uid: String, _ event: EventSpecification) {
        json.member("eventKey", event.key.rawValue)
        json.member("uid", uid)
        json.member("name", event.name)
        json.member("startsAt", event.startsAt)
    }

    private static func write(_ foreseen: Foreseen, _ forecast: Forecast, to json: inout JSONWriter) {
        json.object { object in
            object.member("bundleId", foreseen.app.bundleID.rawValue)
            object.member("environment", foreseen.app.environment.rawValue)
            object.member("limit", foreseen.limit)
            object.member("unmanaged", foreseen.unmanaged)
            object.member("peak", forecast.peak)
            object.member("peakAt", forecast.peakAt)
            object.member("exceedsAt", forecast.exceedsAt)
        }
    }
}

extension CalendarProblem: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("line", line)
        object.member("detail", detail)
        object.member("uid", uid)
    }
}
