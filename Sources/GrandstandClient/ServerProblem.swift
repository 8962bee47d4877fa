internal import Foundation

/// A refusal of the server: RFC 9457's members, and what Grandstand adds.
public struct ServerProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The HTTP status.
    public let status: Int
    /// The last part of the problem's `type`, e.g. `event-ended`; empty when the answer was no problem document.
    public let slug: String
    /// A short constant sentence for the kind of problem.
    public let title: String
    /// What happened this time, and what to do.
    public let detail: String

    /// What is wrong with single fields, where that is known.
    public let errors: [FieldFault]

    /// One field that cannot be accepted.
    public struct FieldFault: Sendable, Hashable, Decodable {
        /// A JSON Pointer into the body (RFC 6901), or a parameter's name.
        public let pointer: String
        /// What was expected there.
        public let detail: String
    }

    /// Reads an answer; one that is no problem document becomes a problem that says so.
    public init(_ answer: GrandstandClient.Answer) {
        struct Document: Decodable {
            let type: String
            let title: String
            let detail: String?
            let errors: [FieldFault]?
        }
        status = answer.status
        guard let document = try? JSONDecoder().decode(Document.self, from: answer.body) else {
            slug = ""
            title = "HTTP \(answer.status)"
            detail = String(decoding: answer.body.prefix(200), as: UTF8.self)
            errors = []
            return
        }
        slug = document.type.split(separator: "/").last.map(String.init) ?? document.type
        title = document.title
        detail = document.detail ?? ""
        errors = document.errors ?? []
    }

    /// Title and detail on one line.
    public var description: String { detail.isEmpty ? title : "\(title): \(detail)" }
}

extension JSONDecoder {
    /// Times as the API writes them: RFC 3339 with milliseconds.
    static var grandstand: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            do {
                return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            } catch {
                return try Date(text, strategy: .iso8601)
            }
        }
        return decoder
    }
}
