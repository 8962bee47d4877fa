internal import JSON

/// A request to the control API.
struct ControlRequest: Sendable, Hashable {
    var method: String
    /// The segments of the path, percent-decoded, without empty ones.
    var path: [String]
    /// The parameters of the query, percent-decoded. A `+` stays a plus sign, because channel IDs contain it.
    var query: [(name: String, value: String)]
    var body: [UInt8]

    /// The most JSON values in a body. In memory each takes about a hundred bytes.
    static let maximumValues = 250_000

    /// - Returns: `nil` if a decoded part is not UTF-8.
    init?(method: String, target: String, body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.method = method
        self.body = body
        path = []
        query = []
        for part in (parts.first ?? "").split(separator: "/") {
            guard let text = Self.decode(part) else { return nil }
            path.append(text)
        }
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = sides.first.flatMap(Self.decode),
                let value = sides.count == 2 ? Self.decode(sides[1]) : ""
            else { return nil }
            query.append((name, value))
        }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.path == right.path && left.body == right.body
            && left.query.elementsEqual(right.query) { $0 == $1 }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(path)
    }

    /// The body as JSON; an empty body counts as an empty object.
    func json() throws(SimulatorError) -> JSONValue {
        try JSONValue(body.isEmpty ? Array("{}".utf8) : body, at: "The body", maximumValues: Self.maximumValues)
    }

    /// Reads the body.
    func read<Body: Decodable>() throws(SimulatorError) -> Body { try json().read(at: "the body") }

    /// Reads the parameters of the query like the members of a body.
    ///
    /// - Parameter numbers: the names whose values are numbers.
    func parameters<Parameters: Decodable>(numbers: Set<String> = []) throws(SimulatorError) -> Parameters {
        let text = JSONWriter.text { object in
            for (name, value) in query {
                object.name(dynamic: name)
                if numbers.contains(name), Double(value) != nil, (try? JSONValue(decoding: value.utf8)) != nil {
                    object.raw(value.utf8)
                } else {
                    object.string(value)
                }
            }
        }
        return try JSONValue(text, at: "The query").read(at: "the query")
    }

    private static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
