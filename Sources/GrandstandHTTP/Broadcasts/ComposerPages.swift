internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// `/console/events/{key}/compose`: a message is made, looked at, and sent.
struct ComposerPages: PageGroup {
    let reader: EventReader
    let broadcasts: BroadcastOperations

    /// A content of 5,120 bytes for each of some hundred variants, and what encoding makes of them.
    private static let formLimit = 2 * 1_024 * 1_024

    var routes: [PageRoute] { [PageRoute("/events/:key/compose", .organise, compose)] }

    var actions: [ActionRoute] {
        [
            ActionRoute("/events/:key/preview", .organise, bodyLimit: Self.formLimit, preview),
            ActionRoute("/events/:key/send", .organise, bodyLimit: Self.formLimit, send),
        ]
    }

    private func compose(_ visit: Visit) async throws -> PageRoute.Answer {
        let event = try await reader.event(visit)
        return .page(Composer(event, try await beginning(event, visit)))
    }

    /// The message that was asked for, or the content that people have now.
    private func beginning(_ event: Event, _ visit: Visit) async throws -> MessageForm {
        let key = event.specification.key
        var form = MessageForm()
        if let id = try visit.query.read("from", "The ID of a broadcast was expected.", UUID.init(uuidString:)) {
            guard let broadcast = try await reader.outbox.broadcast(id, within: visit.reach), broadcast.eventKey == key,
                let request = broadcast.request
            else {
                throw Problem(.broadcastNotFound, "The event \(key) has no broadcast \(id.uuidString.lowercased()).")
            }
            form = MessageForm(request, isWhole: true, now: visit.now)
        } else {
            let newest = try await reader.newest(of: key, visit).items
                .first { $0.state != .cancelled && $0.request?.payload.contentState != nil }
            if let request = newest?.request { form = MessageForm(request, isWhole: false, now: visit.now) }
        }
        if let event = visit.query["event"] { form.isEnd = event == "end" }
        return form
    }

    private func preview(_ submission: Submission) async throws -> PageRoute.Answer {
        try await previewed(submission, MessageForm(submission.fields))
    }

    private func previewed(_ submission: Submission, _ form: MessageForm) async throws -> PageRoute.Answer {
        let event = try await reader.event(submission.visit)
        let (body, faults) = form.body()
        guard faults.isEmpty else { return .refused(Composer(event, form, faults: faults), status: 422) }
        do {
            let request = try BroadcastRequest(body: try JSONValue(parsing: body))
            let preview = try await broadcasts.preview(
                request, for: event.specification.key, submission.visit.caller(of: .previewBroadcast))
            return .page(Composer(event, form, preview: PreviewReading(preview)))
        } catch {
            return try refused(error, event, form)
        }
    }

    private func send(_ submission: Submission) async throws -> PageRoute.Answer {
        let form = MessageForm(submission.fields)
        // What cannot be brought back is shown first, with its question.
        if form.isEnd, submission.fields["confirmed"] != "yes" { return try await previewed(submission, form) }
        let event = try await reader.event(submission.visit)
        let key = event.specification.key
        let (body, faults) = form.body()
        guard faults.isEmpty else { return .refused(Composer(event, form, faults: faults), status: 422) }
        let accepted: JSONValue
        do {
            let request = try BroadcastRequest(body: try JSONValue(parsing: body))
            accepted = try await submission.onceAsJSON(.broadcast) {
                try await broadcasts.accept(request, for: key, $0)
            }
        } catch {
            return try refused(error, event, form)
        }
        let warnings = accepted.texts("warnings")
        let isScheduled = accepted.text("state") == Broadcast.State.scheduled.rawValue
        let done =
            isScheduled
            ? "It waits for its time." : form.isEnd ? "The end is on its way." : "The update is on its way."
        return .done(ConsolePath.event(key), notice: ([done] + warnings).joined(separator: " "))
    }

    /// The form again, with the refusal.
    private func refused(_ error: any Error, _ event: Event, _ form: MessageForm) throws -> PageRoute.Answer {
        guard let refusal = APIProblem(error) else { throw error }
        return .refused(Composer(event, form, refusal: refusal), status: refusal.status)
    }
}
