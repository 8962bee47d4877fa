internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The page with the form that declares an event.
struct NewEvent: ConsolePage {
    var template: String { "new-event" }
    let title = "Declare an event"
    let groups: [FormGroup]
    let audiences: String
    let more: String
    let apps: [String]
    let refusal: FormRefusal?

    init(_ draft: EventForm, apps: [Contract.App], refusal: Problem? = nil) {
        let key = FormInput(
            name: "key", label: "Key", help: "By which apps look it up, for example cup-final-2026.", isRequired: true,
            lineType: "text", longest: 128)
        var groups = Contract.EventDraft.shape.groups(of: "EventDraft", without: EventForm.hidden) { _ in nil }
        groups[0].inputs.insert(key, at: 0)
        // As it was typed, also what is no number and no time.
        for (group, inputs) in groups.map(\.inputs).enumerated() {
            for (place, input) in inputs.enumerated() {
                groups[group].inputs[place].value = draft.fields[input.name] ?? ""
            }
        }
        self.groups = groups
        audiences = draft.audiences
        more = draft.more
        self.apps = apps.map(\.bundleId)
        self.refusal = refusal.map { FormRefusal($0) }
    }
}
