public import Foundation

/// A refusal of the server: RFC 9457's members, and what Grandstand adds.
public struct ServerProblem: Error, Sendable, Hashable {
    /// The HTTP status.
    public let status: Int
    /// The last part of the problem's `type`, e.g. `event-ended`; empty when the answer was no problem document.
    public let slug: String
    /// A short constant sentence for the kind of problem.
    public let title: String
    /// What happened this time, and what to do.
    public let detail: String
    /// Names the request in the server's log.
    public let requestId: String?
    /// What is wrong with single fields, where that is known.
    public let errors: [FieldFault]
    /// What APNs answered, where it refused.
    public let apns: APNsRefusal?
    /// With `stale-installation`: the newest sequence that the server knows.
    public let sequence: Int?
    /// Seconds until the request may succeed, where the server says so.
    public var retryAfter: Int?

    /// What kind of problem it is.
    public var kind: Kind { Kind(rawValue: slug) ?? .unknown }

    /// One field that cannot be accepted.
    public struct FieldFault: Sendable, Hashable, Codable {
        /// A JSON Pointer into the body (RFC 6901), or a parameter's name.
        public let pointer: String
        /// What was expected there.
        public let detail: String
    }

    /// An answer of APNs' that the server passes on.
    public struct APNsRefusal: Sendable, Hashable, Codable {
        /// APNs' HTTP status.
        public let status: Int
        /// APNs' reason.
        public let reason: String
        /// The apns-request-id.
        public let requestId: String?
    }

    /// Reads an answer; one that is no problem document becomes a problem that says so.
    public init(_ answer: GrandstandClient.Answer) {
        if let problem = try? JSONDecoder().decode(ServerProblem.self, from: answer.body) {
            self = problem
        } else {
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            self.init(status: answer.status, slug: "", title: "HTTP \(answer.status)", detail: text)
        }
        retryAfter = answer.retryAfter
    }

    package init(
        status: Int, slug: String, title: String, detail: String = "", requestId: String? = nil,
        errors: [FieldFault] = [], apns: APNsRefusal? = nil, sequence: Int? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.slug = slug
        self.title = title
        self.detail = detail
        self.requestId = requestId
        self.errors = errors
        self.apns = apns
        self.sequence = sequence
        self.retryAfter = retryAfter
    }
}

extension ServerProblem: CustomStringConvertible {
    /// Title and detail on one line.
    public var description: String { detail.isEmpty ? title : "\(title): \(detail)" }
}

extension ServerProblem: LocalizedError {
    /// Title and detail on one line.
    public var errorDescription: String? { description }
}

extension ServerProblem: Codable {
    private enum CodingKeys: CodingKey { case type, title, status, detail, requestId, errors, apns, sequence }

    private static let base = "https://grandstand.dev/problems/"

    /// Reads it as the API writes it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = try container.decode(String.self, forKey: .type)
        self.init(
            status: try container.decode(Int.self, forKey: .status),
            slug: type.split(separator: "/").last.map(String.init) ?? type,
            title: try container.decode(String.self, forKey: .title),
            detail: try container.decodeIfPresent(String.self, forKey: .detail) ?? "",
            requestId: try container.decodeIfPresent(String.self, forKey: .requestId),
            errors: try container.decodeIfPresent([FieldFault].self, forKey: .errors) ?? [],
            apns: try container.decodeIfPresent(APNsRefusal.self, forKey: .apns),
            sequence: try container.decodeIfPresent(Int.self, forKey: .sequence))
    }

    /// Writes it as the API reads it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.base + slug, forKey: .type)
        try container.encode(title, forKey: .title)
        try container.encode(status, forKey: .status)
        try container.encode(detail, forKey: .detail)
        try container.encodeIfPresent(requestId, forKey: .requestId)
        if !errors.isEmpty { try container.encode(errors, forKey: .errors) }
        try container.encodeIfPresent(apns, forKey: .apns)
        try container.encodeIfPresent(sequence, forKey: .sequence)
    }
}
