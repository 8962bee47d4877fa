internal import Grandstand
internal import GrandstandContract

/// The page with the form that declares an event.
struct NewEvent: ConsolePage {
    var template: TemplateName { .newEvent }
    let title = "Declare an event"
    let action = ConsolePath.newEvent
    let draft: EventForm
    let startsAtLocal: String
    let endsAtLocal: String
    let apps: [String]
    let refusal: FormRefusal?

    init(_ draft: EventForm, apps: [Contract.App], faults: [APIProblem.Fault] = [], refusal: APIProblem? = nil) {
        self.draft = draft
        startsAtLocal = FormTime.local(draft.startsAt)
        endsAtLocal = FormTime.local(draft.endsAt)
        self.apps = apps.map(\.bundleId)
        self.refusal = FormRefusal(refusal, faults)
    }
}
