/// An answer of the control API: a status and JSON.
struct ControlAnswer: Sendable, Hashable {
    var status: Int
    /// `nil`: no body.
    var body: JSONValue?

    static func ok(_ body: JSONValue) -> Self { Self(status: 200, body: body) }

    static func created(_ body: JSONValue) -> Self { Self(status: 201, body: body) }

    static let done = Self(status: 204, body: nil)

    /// - Parameter message: says what is wrong and what to do.
    static func failure(_ status: Int, _ message: String) -> Self {
        Self(status: status, body: ["error": .string(message)])
    }
}
