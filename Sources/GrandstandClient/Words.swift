public import GrandstandContract

extension Contract.LocalizedText: ExpressibleByStringLiteral {
    /// The same text in every language.
    public init(stringLiteral text: String) { self = .text(text) }
}
