extension GrandstandClient {
    /// A text, or the key of one in the app's own strings.
    public enum LocalizedText: Sendable, Hashable, Codable, ExpressibleByStringLiteral {
        /// As it is.
        case text(String)
        /// `loc-key` and `loc-args`: the phone puts it together in its own language.
        case key(String, arguments: [String] = [])

        /// The text as it is.
        public init(stringLiteral text: String) { self = .text(text) }

        private enum CodingKeys: String, CodingKey {
            case key = "loc-key"
            case arguments = "loc-args"
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self = .text(text)
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self = .key(
                try container.decode(String.self, forKey: .key),
                arguments: try container.decodeIfPresent([String].self, forKey: .arguments) ?? [])
        }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .text(let text):
                var container = encoder.singleValueContainer()
                try container.encode(text)
            case .key(let key, let arguments):
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(key, forKey: .key)
                if !arguments.isEmpty { try container.encode(arguments, forKey: .arguments) }
            }
        }
    }
}
