internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The actions of the message form on an event's page: check the message, and send it.
extension API {
    var composerPages: [PageRoute] {
        // It is enough for some hundred variants with contents of 5,120 bytes each, form-encoded.
        let form = PageRoute.Form(bodyLimit: 2 * 1_024 * 1_024)
        return [
            PageRoute("/events/:key/preview", .organise, form: form, preview),
            PageRoute("/events/:key/send", .organise, form: form, send),
        ]
    }

    private func event(_ visit: Visit) async throws -> Contract.Event {
        try await stores.events.declared(visit.eventKey(), within: visit.reach, now: visit.now).value
    }

    /// Answers with the whole page, or with the check's result alone if a script asks while somebody types.
    private func preview(_ visit: Visit) async throws -> PageRoute.Answer {
        let isCheck = visit.fields["check"] == "yes"
        let event = try await event(visit)
        let (composer, status) = try await look(visit, event, MessageForm(visit.fields))
        if isCheck { return .page(MessageCheck(composer: composer)) }
        return try await shown(composer, status, visit)
    }

    private func send(_ visit: Visit) async throws -> PageRoute.Answer {
        let form = MessageForm(visit.fields)
        let event = try await event(visit)
        // An end cannot be undone, so the page asks first.
        if form.isEnd, visit.fields["confirmed"] != "yes" {
            let (composer, status) = try await look(visit, event, form, asksForEnd: true)
            return try await shown(composer, status, visit)
        }
        let key = event.eventKey
        let accepted: Contract.Broadcast
        do {
            let body = try form.body()
            if form.isState {
                let report = try Contract.StateDraft.read(try JSONValue(parsing: body))
                let caller = try visit.caller(of: .putState)
                let told = try await stores.outbox.tell(Intake(key, report, caller, at: now()))
                let done = "\((told?.outcome ?? .unchanged).words)."
                return .elsewhere(
                    ConsolePath.composer(key), notice: ([done] + (told?.warnings ?? [])).joined(separator: " "))
            }
            let call = PageCall(operation: .broadcast, parameters: visit.parameters, body: body)
            accepted = try await visit.call(call).object.decode()
        } catch {
            guard let refusal = Problem(shown: error) else { throw error }
            return try await shown(Composer(event, form, refusal: refusal), refusal.status, visit)
        }
        let done =
            accepted.state == .scheduled
            ? "It waits for its time." : form.isEnd ? "The end is on its way." : "The composed message is on its way."
        return .elsewhere(ConsolePath.composer(key), notice: ([done] + accepted.warnings).joined(separator: " "))
    }

    /// Returns the effect of the message with the status 200. If the message would be refused, returns the reason with
    /// the status of the refusal.
    private func look(
        _ visit: Visit, _ event: Contract.Event, _ form: MessageForm, asksForEnd: Bool = false
    ) async throws -> (Composer, status: Int) {
        do {
            let body = try JSONValue(parsing: try form.body())
            let key = event.eventKey
            let caller = try visit.caller(of: form.isState ? .previewState : .previewBroadcast)
            let intake =
                try form.isState
                ? Intake(key, .read(body), caller, at: now())
                : Intake(.event(key), body, caller, at: now())
            let (state, preview) = try await preview(intake)
            let composer = Composer(
                event, form, preview: preview.map(PreviewReading.init), outcome: state?.outcome.words,
                asksForEnd: asksForEnd && state == nil)
            return (composer, 200)
        } catch {
            guard let refusal = Problem(shown: error) else { throw error }
            return (Composer(event, form, refusal: refusal), refusal.status)
        }
    }

    /// The page of the event, with the form as it was typed.
    private func shown(_ composer: Composer, _ status: Int, _ visit: Visit) async throws -> PageRoute.Answer {
        let page = EventDetail(try await contents(visit), visit, composer: composer)
        return .page(page, status: status)
    }

    /// The form to begin with: filled from the message that the link names, or from the newest content; `nil`: the
    /// event accepts no more messages.
    func composer(_ contents: EventDetail.Contents, _ visit: Visit) async throws -> Composer? {
        let event = contents.event
        let key = event.eventKey
        guard !event.isOver else { return nil }
        var form = MessageForm()
        if let id = try visit.query.read("from", "The ID of a broadcast was expected.", UUID.init(uuidString:)) {
            guard let broadcast = try await stores.outbox.broadcast(id, within: visit.reach),
                broadcast.eventKey == key.rawValue,
                let message = broadcast.message
            else {
                throw Problem(.broadcastNotFound, "The event \(key) has no broadcast \(id.uuidString.lowercased()).")
            }
            form = MessageForm(message, isWhole: true, now: visit.now)
        } else {
            let newest = contents.newest.first { $0.state != .cancelled && $0.message?.contentState != nil }
            if let message = newest?.message { form = MessageForm(message, isWhole: false, now: visit.now) }
            // Where states come in, a score that somebody types is one, too.
            form.isState = contents.newest.contains { $0.outcome != nil }
        }
        if let event = visit.query["event"] { (form.isEnd, form.isState) = (event == "end", event == "state") }
        return Composer(event, form, newest: contents.newest.first?.id)
    }
}
