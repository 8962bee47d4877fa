/// An option of a select box or a check box.
struct Choice: Sendable {
    let value: String
    /// The text that people read.
    let label: String
    let isChosen: Bool

    /// - Parameter label: the text that people read; `nil`: `value`.
    init(_ value: String, label: String? = nil, isChosen: Bool) {
        self.value = value
        self.label = label ?? value
        self.isChosen = isChosen
    }

    static func all<Word: RawRepresentable<String> & CaseIterable & Equatable>(_ type: Word.Type, chosen: Word?)
        -> [Choice]
    { Word.allCases.map { Choice($0.rawValue, isChosen: $0 == chosen) } }

    /// How long the old secret stays valid after a rotation, in seconds.
    static let oldSecretLifetimes = [
        Choice("0", label: "not at all", isChosen: false), Choice("3600", label: "an hour", isChosen: false),
        Choice("86400", label: "a day", isChosen: true), Choice("604800", label: "a week", isChosen: false),
    ]

    /// The APNs priorities that a message can have.
    static func priorities(chosen: String) -> [Choice] {
        [
            ("", "as the message needs it"), ("10", "10: at once"), ("5", "5: as power allows"),
            ("1", "1: saving power comes first"),
        ].map { Choice($0.0, label: $0.1, isChosen: $0.0 == chosen) }
    }
}
