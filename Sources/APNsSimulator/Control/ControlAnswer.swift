internal import JSON

/// An answer of the control API: a status and JSON.
struct ControlAnswer: Sendable, Hashable {
    var status: Int
    /// JSON; empty: no body.
    var body: [UInt8] = []

    static func ok(_ body: [UInt8]) -> Self { Self(status: 200, body: body) }

    static func created(_ body: [UInt8]) -> Self { Self(status: 201, body: body) }

    static let done = Self(status: 204)

    /// - Parameter message: says what is wrong and what to do.
    static func failure(_ status: Int, _ message: String) -> Self {
        Self(status: status, body: JSONWriter.text(["error": message]))
    }
}
