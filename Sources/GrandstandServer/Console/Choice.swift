/// An option of a select box or a check box, or one of several links.
struct Choice: Sendable {
    let value: String
    /// The text that people read.
    let label: String
    let choiceHint: String?
    let isChosen: Bool

    /// - Parameter label: the text that people read; `nil`: `value`.
    init(_ value: String, label: String? = nil, hint: String? = nil, isChosen: Bool) {
        self.value = value
        self.label = label ?? value
        choiceHint = hint
        self.isChosen = isChosen
    }

    /// The APNs priorities that a message can have.
    static func priorities(chosen: String) -> [Choice] {
        [
            ("", "as the message needs it"), ("10", "10: at once"), ("5", "5: as power allows"),
            ("1", "1: saving power comes first"),
        ].map { Choice($0.0, label: $0.1, isChosen: $0.0 == chosen) }
    }
}
