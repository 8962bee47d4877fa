internal import APNsWire
internal import FoundationEssentials
internal import JSON

/// The report for people, with at most a hundred columns a line.
extension RehearsalReport {
    package var text: String {
        var page = TextPage()
        page.line("Dress rehearsal of \(day) (\(zone)), \(plan.speed.short) times as fast")
        page.line(
            "\(Self.count(played.count, "event")) from \(time(plan.begins)) to \(time(plan.ends)), \(others) more "
                + "that may use channels, too; \(messages) updates and an end each; \(phones) phones")
        for run in runs { add(run, to: &page) }
        if !notices.isEmpty {
            page.line("")
            page.line("Look at")
            for notice in notices { page.item("\(notice.subject) \(notice.detail)") }
        }
        return page.text
    }

    private func add(_ run: RehearsalRun, to page: inout TextPage) {
        page.line("")
        page.line(run.fault.map(heading) ?? "Without a fault, \(run.seconds.short) s")
        for places in run.places {
            page.entry(
                "places",
                "\(places.app.bundleID) in \(places.app.environment.rawValue): the most were \(places.peak) of "
                    + "\(places.limit), at \(time(places.peakAt)); hour by hour: "
                    + places.hours.map { "\(time($0.from)) \($0.places)" }.joined(separator: ", "))
        }
        page.entry(
            "messages",
            "\(run.accepted) accepted, \(run.arrived) reached Apple, \(run.messagesPerSecond) a second at most; "
                + (run.outcomes.isEmpty
                    ? "no deliveries" : run.outcomes.map { "\($0.1) \($0.0)" }.joined(separator: ", ")))
        if !run.states.isEmpty {
            page.entry("states", run.states.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
        }
        page.entry(
            "urgent",
            "\(Self.count(run.urgent.count, "message")) of priority 10"
                + (run.urgent.from.map { from in
                    ", \(run.urgent.mostPerHour) an hour at most: \(run.urgent.eventKey ?? "") from \(time(from))"
                } ?? ""))
        page.entry(
            "contents",
            run.checked == 0
                ? "not checked: the events have no content type"
                : "\(run.checked) checked, \(run.undecodable) that a version of the app cannot decode")
        for fault in run.faults {
            page.item(
                "\(fault.detail) \(Self.count(fault.count, "time")), first \(fault.eventKey) at \(time(fault.at))")
        }
        let starts = run.starts
        page.entry(
            "starts",
            "\(starts.followers) followers: \(starts.accepted) accepted, \(starts.rejected) rejected, "
                + "\(starts.unknown) unknown, \(starts.pending) pending; \(run.startsPerSecond) a second at most")
        if let percentiles = run.percentiles, let worst = run.delays.last {
            page.entry(
                "delay",
                "p50 \(percentiles.p50.short) s, p95 \(percentiles.p95.short) s, p99 \(percentiles.p99.short) s, worst "
                    + "\(worst.short) s, from acceptance to Apple's newest state")
        }
        if let gap = run.gap {
            page.entry("gap", "\(gap.seconds.short) s at most, from sending on: \(gap.eventKey) at \(time(gap.at))")
        }
        page.entry("lost", run.lost.isEmpty ? "nothing" : "the newest state of " + Self.count(run.lost.count, "event"))
        for loss in run.lost { page.item("\(loss.eventKey): " + Self.count(loss.channels, "channel")) }
        page.entry("refused", run.refusals.isEmpty ? "nothing" : Self.count(run.refusals.count, "time"))
        for refusal in run.refusals {
            page.item(
                "\(time(refusal.at)) \(refusal.action) \(refusal.eventKey): \(refusal.problem). \(refusal.detail)")
        }
    }

    private func heading(_ fault: RehearsalFault) -> String {
        let what =
            switch fault.kind {
            case .outage: "APNs answers 503 for \(fault.seconds.short) s"
            case .replica: "a second server process is killed"
            case .database: "PostgreSQL is restarted, which takes \(fault.seconds.short) s"
            }
        return "With a fault: at \(time(fault.at)) \(what)"
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// `20:45`, or `11-29 00:10` on another day.
    private func time(_ date: Date) -> String {
        let local = date.addingTimeInterval(TimeInterval(timeZone.secondsFromGMT(for: date)))
        let text = RFC3339.text(local)
        let clock = String(text.dropFirst(11).prefix(5))
        return text.hasPrefix(day) ? clock : "\(text.dropFirst(5).prefix(5)) \(clock)"
    }
}

/// Lines that are broken between words.
private struct TextPage {
    private static let width = 100
    private static let margin = 12
    private(set) var text = ""

    mutating func line(_ line: String) { wrap(line, first: "", rest: "  ") }

    mutating func item(_ line: String) { wrap(line, first: "    - ", rest: "      ") }

    mutating func entry(_ name: String, _ line: String) {
        let padding = String(repeating: " ", count: max(1, Self.margin - 2 - name.count))
        wrap(line, first: "  \(name)\(padding)", rest: String(repeating: " ", count: Self.margin))
    }

    private mutating func wrap(_ line: String, first: String, rest: String) {
        var current = first
        var isEmpty = true
        for word in line.split(separator: " ") {
            if !isEmpty, current.count + 1 + word.count > Self.width {
                text += current + "\n"
                current = rest
                isEmpty = true
            }
            current += isEmpty ? String(word) : " \(word)"
            isEmpty = false
        }
        text += current + "\n"
    }
}

extension Double {
    /// The number as text: whole numbers have no fraction, other numbers are rounded to the hundredth.
    fileprivate var short: String {
        let rounded = (self * 100).rounded() / 100
        return rounded == rounded.rounded() && abs(rounded) < 1e9 ? String(Int(rounded)) : String(rounded)
    }
}
