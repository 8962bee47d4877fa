internal import Grandstand

/// A page that explains an action and asks before it is performed.
struct Question: ConsolePage {
    var template: TemplateName { .question }
    let title: String
    /// The explanation, one sentence per element.
    let words: [String]
    /// Facts that help to decide.
    let facts: [Fact]
    /// The answers; each is a button.
    let choices: [Option]
    /// Whether the key must be entered again.
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
