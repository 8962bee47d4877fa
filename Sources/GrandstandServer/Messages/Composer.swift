internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The actions of the message form on an event's page: check the message, and send it.
extension API {
    var composerPages: [PageRoute] {
        [
            PageRoute("/events/:key/preview", .organise, form: .reversible, preview),
            PageRoute("/events/:key/send", .organise, form: .reversible, send),
        ]
    }

    private func event(_ visit: Visit) async throws -> Contract.Event {
        try await stores.events.declared(visit.eventKey(), within: visit.reach, now: visit.now).value
    }

    /// Answers with the whole page, or with the check's result alone if a script asks while somebody types.
    private func preview(_ visit: Visit) async throws -> PageRoute.Answer {
        let isCheck = visit.fields["check"] == "yes"
        let event = try await event(visit)
        let (composer, status) = try await dryRun(visit, event, MessageForm(visit.fields))
        if isCheck { return .page(MessageCheck(composer: composer)) }
        return try await page(composer, status, visit)
    }

    private func send(_ visit: Visit) async throws -> PageRoute.Answer {
        let form = MessageForm(visit.fields)
        let event = try await event(visit)
        // An end cannot be undone, so the page asks first.
        if form.isEnd, visit.fields["confirmed"] != "yes" {
            let (composer, status) = try await dryRun(visit, event, form, asksForEnd: true)
            return try await page(composer, status, visit)
        }
        do {
            let answer = try await visit.call(form.isState ? .putState : .broadcast, body: try form.body()).object
            let outcome = try answer["outcome"].map { try $0.decode(Contract.StateOutcome.self) }
            let done =
                form.isState
                ? "\((outcome ?? .unchanged).words)."
                : answer["state"]?.string == Contract.BroadcastState.scheduled.rawValue
                    ? "It waits for its time."
                    : form.isEnd ? "The end is on its way." : "The composed message is on its way."
            let warnings = (answer["warnings"]?.elements ?? []).compactMap(\.string)
            return .redirect(
                ConsolePath.composer(event.eventKey), notice: ([done] + warnings).joined(separator: " "))
        } catch {
            guard let refusal = Problem(shown: error) else { throw error }
            return try await page(Composer(event, form, refusal: refusal), refusal.status, visit)
        }
    }

    /// Returns the effect of the message with the status 200. If the message would be refused, returns the reason with
    /// the status of the refusal.
    private func dryRun(
        _ visit: Visit, _ event: Contract.Event, _ form: MessageForm, asksForEnd: Bool = false
    ) async throws -> (Composer, status: Int) {
        do {
            let body = try JSONValue(parsing: try form.body())
            let key = event.eventKey
            let caller = try visit.caller(of: form.isState ? .previewState : .previewBroadcast)
            let intake =
                form.isState
                ? Intake(key, try .read(body), caller, at: now())
                : Intake(.event(key), try .checked(body), caller, at: now())
            let found = try await preview(intake)
            let outcome = form.isState ? (found?.accepted.outcome ?? .unchanged).words : nil
            let composer = Composer(
                event, form, preview: found.map { MessageEffect($0.preview) }, outcome: outcome,
                asksForEnd: asksForEnd && !form.isState)
            return (composer, 200)
        } catch {
            guard let refusal = Problem(shown: error) else { throw error }
            return (Composer(event, form, refusal: refusal), refusal.status)
        }
    }

    /// The page of the event, with the form as it was typed.
    private func page(_ composer: Composer, _ status: Int, _ visit: Visit) async throws -> PageRoute.Answer {
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

/// The form for the next message, on the page of its event: what was typed, what is wrong with it, and its effect.
struct Composer: Sendable {
    let eventHref: String
    let message: MessageForm
    /// The audiences to choose from; empty if the event has fewer than two audiences.
    let audienceChoices: [Choice]
    let chosenAudiences: String
    let variants: String?
    /// The fields of the collapsed section.
    let moreInputs: [FormInput]
    /// Whether a field in the collapsed section has a value, so that the page shows the section open.
    let saysMore: Bool
    let refusal: FormRefusal?
    let preview: MessageEffect?
    /// The result of the check, in one line; empty before a check.
    let verdict: String
    /// The question to confirm before an end is sent.
    let question: String?
    /// The newest message when the form was made; empty: none. The page's script uses it to notice that a newer message
    /// was sent.
    let newestID: String

    /// - Parameters:
    ///   - newest: the ID of the event's newest message.
    ///   - outcome: what a state would come to.
    ///   - asksForEnd: whether the user wants to send an end and has to confirm the end.
    init(
        _ event: Contract.Event, _ message: MessageForm, newest: String? = nil, refusal: Problem? = nil,
        preview: MessageEffect? = nil, outcome: String? = nil, asksForEnd: Bool = false
    ) {
        eventHref = ConsolePath.event(event.eventKey)
        self.message = message
        let audiences = event.audiences
        audienceChoices =
            audiences.count < 2
            ? [] : audiences.prefix(200).map { AudienceChoice.choice($0, chosen: message.audiences) }
        let chosen = audienceChoices.count(where: \.isChosen)
        chosenAudiences =
            chosen == 0 ? "everybody" : "\(Wording.number(chosen)) of \(Wording.count(audiences.count, "audience"))"
        let names = Set(audiences.compactMap(\.variant)).sorted()
        variants = names.isEmpty ? nil : names.joined(separator: ", ")
        moreInputs = message.moreInputs
        saysMore = MessageForm.nonStateFields.dropFirst(2).contains { !message[$0].isEmpty }
        self.refusal = refusal.map { ("\($0.detail) Nothing was sent.", $0.errors) }
        self.preview = preview
        verdict = [outcome, Self.verdict(self.refusal, preview)].compactMap(\.self).joined(separator: ". ")
        question = asksForEnd ? Self.question(event, message) : nil
        newestID = newest ?? ""
    }

    private static func verdict(_ refusal: FormRefusal?, _ preview: MessageEffect?) -> String {
        if let refusal {
            let count = refusal.faults.count
            return count == 0 ? "This would be refused." : "\(Wording.count(count, "place")) to correct."
        }
        guard let preview else { return "" }
        let warnings = preview.warnings.count
        return preview.sizeText + (warnings == 0 ? "" : ", \(Wording.count(warnings, "warning"))")
    }

    private static func question(_ event: Contract.Event, _ message: MessageForm) -> String {
        let audiences =
            message.audiences.isEmpty
            ? "all \(Wording.count(event.audiences.count, "audience"))"
            : Wording.count(message.audiences.count, "audience")
        return
            "This ends \(event.name) for \(audiences). Activities that get it are over, and Apple lets nobody bring them "
            + "back; what waits is not sent any more. Is it really over?"
    }
}

/// The result of checking the form, without the rest of the page. A page's script asks for it while somebody types.
struct MessageCheck: ConsolePage {
    var template: String { "check" }
    let title = "Check"
    let composer: Composer
}

/// The effect of a message, as the console shows it.
struct MessageEffect: Sendable {
    let goesAt: Moment
    let isScheduled: Bool
    let givesUpAt: Moment
    /// The messages of the first audiences, as the template `effect` shows them. The rest is left out, because an event
    /// may have hundreds of audiences.
    let previewed: [[String: String]]
    let audiencesLeftOut: String?
    /// The size of the message that is closest to its limit: `At most 312 of 5,120 bytes`.
    let sizeText: String
    let warnings: [String]

    private static let maxShown = 12

    init(_ preview: Contract.BroadcastPreview) {
        goesAt = Moment(preview.goesAt)
        givesUpAt = Moment(preview.expiresAt)
        isScheduled = preview.isScheduled
        previewed = preview.audiences.prefix(Self.maxShown).map(Self.audience)
        let rest = preview.audiences.count - previewed.count
        audiencesLeftOut = rest > 0 ? "\(Wording.count(rest, "more audience")) would get it." : nil
        sizeText =
            preview.audiences.min { $0.limit - $0.bytes < $1.limit - $1.bytes }.map { "At most \(Self.size($0))" }
            ?? "Nobody would get it"
        warnings = preview.warnings
    }

    private static func audience(_ part: Contract.AudiencePreview) -> [String: String] {
        let (count, until) = (part.replaces.count, part.apnsExpiration)
        let replaced = "\(Wording.count(count, "message")) that \(count == 1 ? "waits" : "wait") would not be sent."
        return [
            "name": Wording.list(part.bundleId, part.environment.rawValue, part.variant)
                + (part.kind == .tokens ? " (by token)" : ""),
            "size": size(part), "priority": Wording.number(part.priority),
            "expiration": until == 0
                ? "not stored" : "stored until \(Moment(Date(epoch: until)).text)",
            "previewCompact": part.preview?.compact, "previewExpanded": part.preview?.expanded,
            // The body that is sent to APNs.
            "payload": ReadableJSON.text(part.payload.utf8), "replaced": count == 0 ? nil : replaced,
        ].compactMapValues(\.self)
    }

    /// `312 of 5,120 bytes`
    private static func size(_ part: Contract.AudiencePreview) -> String {
        "\(Wording.number(part.bytes)) of \(Wording.number(part.limit)) bytes"
    }
}
