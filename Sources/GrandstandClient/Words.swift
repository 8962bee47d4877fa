public import GrandstandContract

// Short ways to write some values of the contract.

extension Contract.LocalizedText: ExpressibleByStringLiteral {
    /// The same text in every language.
    public init(stringLiteral text: String) { self = .text(text) }

    /// `loc-key` and `loc-args`: the phone builds the text in its own language.
    public static func key(_ key: String, arguments: [String] = []) -> Self {
        .localized(.init(locKey: key, locArgs: arguments.isEmpty ? nil : arguments))
    }
}

extension Contract.SendTime {
    /// This many seconds after the event's `startsAt`; negative: before it. The time moves with the event.
    public static func afterStart(_ seconds: Int) -> Self { .afterStart(.init(afterStart: seconds)) }
}
