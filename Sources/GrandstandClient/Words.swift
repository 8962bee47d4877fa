public import GrandstandContract

// How people write some of the contract's values.

extension Contract.LocalizedText: ExpressibleByStringLiteral {
    /// The text as it is.
    public init(stringLiteral text: String) { self = .text(text) }

    /// `loc-key` and `loc-args`: the phone puts it together in its own language.
    public static func key(_ key: String, arguments: [String] = []) -> Self {
        .localized(.init(locKey: key, locArgs: arguments.isEmpty ? nil : arguments))
    }
}

extension Contract.SendTime {
    /// So many seconds after `startsAt` of its event, negative before it. It moves with the event.
    public static func afterStart(_ seconds: Int) -> Self { .afterStart(.init(afterStart: seconds)) }
}
