internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// A message in the making: what is typed, what is wrong with it, and what it would come to.
struct Composer: ConsolePage {
    var template: TemplateName { .composer }
    let title: String
    let eventHref: String
    let previewAction: String
    let sendAction: String
    let message: MessageForm
    let isEnd: Bool
    let sendAtLocal: String
    let staleLocal: String
    let dismissalLocal: String
    let audienceChoices: [Choice]
    let priorities: [Choice]
    let variants: String?
    /// Bytes that Apple takes of a whole message.
    let maximumBytes: Int
    let hasTokens: Bool
    let refusal: FormRefusal?
    let preview: PreviewReading?
    /// The words before an end can be sent; with a preview.
    let question: String?

    init(
        _ event: Event, _ message: MessageForm, faults: [APIProblem.Fault] = [], refusal: APIProblem? = nil,
        preview: PreviewReading? = nil
    ) {
        let specification = event.specification
        let key = specification.key
        title = (message.isEnd ? "End of " : "Update of ") + specification.name
        eventHref = ConsolePath.event(key)
        previewAction = ConsolePath.event(key, "preview")
        sendAction = ConsolePath.event(key, "send")
        self.message = message
        isEnd = message.isEnd
        sendAtLocal = FormTime.local(message.sendAt)
        staleLocal = FormTime.local(message.staleDate)
        dismissalLocal = FormTime.local(message.dismissalDate)
        audienceChoices = specification.audiences.prefix(200).map {
            AudienceChoice.choice($0, chosen: message.audiences)
        }
        priorities = Choice.priorities(chosen: message.priority)
        let names = Set(specification.audiences.compactMap(\.variant)).sorted().map(\.rawValue)
        variants = names.isEmpty ? nil : names.joined(separator: ", ")
        hasTokens = specification.audiences.contains { $0.delivery == .tokens }
        maximumBytes = hasTokens ? APNsLimits.devicePayload : APNsLimits.broadcastPayload
        self.refusal = FormRefusal(refusal, faults, nothing: "Nothing was sent.")
        self.preview = preview
        question = preview != nil && message.isEnd ? Self.question(specification, message) : nil
    }

    private static func question(_ event: EventSpecification, _ message: MessageForm) -> String {
        let audiences =
            message.audiences.isEmpty
            ? "all \(Wording.count(event.audiences.count, "audience"))"
            : Wording.count(message.audiences.count, "audience")
        return
            "This ends \(event.name) for \(audiences). Activities that get it are over, and Apple lets nobody bring them "
            + "back; what waits is not sent any more. Is it really over?"
    }
}
