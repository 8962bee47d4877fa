internal import APNsWire
internal import FoundationEssentials
package import JSON

/// The report for programs; docs/organising.md has its fields, whose names do not change.
extension RehearsalReport: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("day", day)
        object.member("timeZone", zone)
        object.member("speed", raw: plan.speed.json)
        object.member("messagesPerEvent", messages)
        object.member("phones", phones)
        object.member("from", plan.begins)
        object.member("to", plan.ends)
        object.member("events", played.map(\.key))
        object.member("others", others)
        object.member("notices", notices)
        object.member("runs", runs)
    }
}

extension RehearsalRun: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("fault", fault)
        object.member("seconds", raw: seconds.json)
        object.member("places", places)
        object.object("messages") { messages in
            messages.member("accepted", accepted)
            messages.member("reachedApple", arrived)
            messages.member("peakPerSecond", messagesPerSecond)
            messages.member("outcomes", counts: outcomes)
            messages.member("states", counts: states)
        }
        object.object("urgent") { writer in
            writer.member("count", urgent.count)
            writer.member("mostPerHour", urgent.mostPerHour)
            writer.member("eventKey", urgent.eventKey)
            writer.member("from", urgent.from)
        }
        object.object("contents") { contents in
            contents.member("checked", checked)
            contents.member("undecodable", undecodable)
            contents.member("faults", faults)
        }
        object.object("starts") { writer in
            writer.member("followers", starts.followers)
            writer.member("accepted", starts.accepted)
            writer.member("rejected", starts.rejected)
            writer.member("unknown", starts.unknown)
            writer.member("pending", starts.pending)
            writer.member("peakPerSecond", startsPerSecond)
        }
        object.name("delay")
        write(delayTo: &object)
        object.member("gap", gap)
        object.member("lost", lost)
        object.member("refused", refusals)
    }

    private func write(delayTo json: inout JSONWriter) {
        guard let percentiles, let worst = delays.last else { return json.null() }
        json.object { object in
            object.member("count", delays.count)
            object.member("p50", raw: percentiles.p50.json)
            object.member("p95", raw: percentiles.p95.json)
            object.member("p99", raw: percentiles.p99.json)
            object.member("worst", raw: worst.json)
        }
    }
}

extension RehearsalNotice: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("kind", kind.rawValue)
        object.member("subject", subject)
        object.member("detail", detail)
    }
}

extension RehearsalFault: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("kind", kind.rawValue)
        object.member("at", at)
        object.member("seconds", raw: seconds.json)
    }
}

extension RehearsalPlaces: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("bundleId", app.bundleID.rawValue)
        object.member("environment", app.environment.rawValue)
        object.member("limit", limit)
        object.member("peak", peak)
        object.member("peakAt", peakAt)
        object.objects("hours", hours) { object, hour in
            object.member("from", hour.from)
            object.member("places", hour.places)
        }
    }
}

extension RehearsalRun.Fault: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("detail", detail)
        object.member("count", count)
        object.member("eventKey", eventKey)
        object.member("at", at)
    }
}

extension RehearsalRun.Gap: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("seconds", raw: seconds.json)
        object.member("eventKey", eventKey)
        object.member("at", at)
    }
}

extension RehearsalRun.Loss: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("eventKey", eventKey)
        object.member("channels", channels)
    }
}

extension RehearsalRecord.Refusal: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("eventKey", eventKey)
        object.member("at", at)
        object.member("action", action)
        object.member("problem", problem)
        object.member("detail", detail)
    }
}

extension Double {
    /// The number, rounded to the thousandth.
    fileprivate var json: [UInt8] { Array("\((self * 1_000).rounded() / 1_000)".utf8) }
}
