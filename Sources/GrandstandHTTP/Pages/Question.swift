internal import Grandstand

/// A page that says what a button will do, before it.
struct Question: ConsolePage {
    var template: TemplateName { .question }
    let title: String
    /// What will happen, sentence by sentence.
    let words: [String]
    /// What matters for the decision.
    let facts: [Fact]
    /// What may be chosen; each is a button.
    let choices: [Option]
    /// Whether the key is asked for once more.
    let asksForKey: Bool
    let action: String
    let backHref: String
    let backLabel: String

    /// A button, and the field that it sends.
    struct Option: Sendable {
        let label: String
        let name: String
        let value: String
        let isDanger: Bool

        init(_ label: String, _ name: String = "confirmed", _ value: String = "yes", isDanger: Bool = true) {
            self.label = label
            self.name = name
            self.value = value
            self.isDanger = isDanger
        }
    }

    init(
        _ title: String, _ words: [String], facts: [Fact] = [], choices: [Option], irreversible: Bool = false,
        action: String, back: (label: String, href: String)
    ) {
        self.title = title
        self.words = words
        self.facts = facts
        self.choices = choices
        asksForKey = irreversible
        self.action = action
        backHref = back.href
        backLabel = back.label
    }
}
