internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The form for the next message, on the page of its event: what was typed, what is wrong with it, and its effect.
struct Composer: Sendable {
    let eventHref: String
    let previewAction: String
    let sendAction: String
    let message: MessageForm
    let isEnd: Bool
    /// The audiences to choose from; empty if the event has fewer than two audiences.
    let audienceChoices: [Choice]
    let chosenAudiences: String
    let variants: String?
    /// The fields of the collapsed section.
    let moreInputs: [FormInput]
    /// Whether a field in the collapsed section has a value, so that the page shows the section open.
    let saysMore: Bool
    let refusal: FormRefusal?
    let preview: PreviewReading?
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
        preview: PreviewReading? = nil, outcome: String? = nil, asksForEnd: Bool = false
    ) {
        let key = event.eventKey
        eventHref = ConsolePath.event(key)
        previewAction = ConsolePath.event(key, "preview")
        sendAction = ConsolePath.event(key, "send")
        self.message = message
        isEnd = message.isEnd
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
        saysMore = MessageForm.ofMessages.dropFirst(2).contains { !message[$0].isEmpty }
        self.refusal = refusal.map { FormRefusal($0, nothing: "Nothing was sent.") }
        self.preview = preview
        verdict = [outcome, Self.verdict(self.refusal, preview)].compactMap(\.self).joined(separator: ". ")
        question = asksForEnd ? Self.question(event, message) : nil
        newestID = newest ?? ""
    }

    private static func verdict(_ refusal: FormRefusal?, _ preview: PreviewReading?) -> String {
        if let refusal {
            let count = refusal.faults.count
            return count == 0 ? "This would be refused." : "\(Wording.count(count, "place")) to correct."
        }
        guard let preview else { return "" }
        let warnings = preview.warnings.count
        return preview.largest + (warnings == 0 ? "" : ", \(Wording.count(warnings, "warning"))")
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
