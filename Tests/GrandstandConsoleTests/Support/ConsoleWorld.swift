internal import Foundation
internal import Grandstand
internal import GrandstandConsole
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import PortFakes

/// The console's pages behind their router, over ports that are functions: no socket, no database, no server around it.
struct ConsoleWorld {
    var apps = FakeApps()
    var channels = FakeChannels()
    var events = FakeEvents()
    var outbox = FakeOutbox()
    var quirks = FakeQuirks()
    var auditLog = FakeAuditLog()
    var reconciliations = FakeReconciliations()
    var gateway = FakeGateway()
    /// Whose key a secret is. A secret is the words of its key's scopes, `operate-organise`; one that ends in `@` is of
    /// the app com.example.Stadium alone.
    var identify: @Sendable (String) throws -> APIKey = { secret in
        let words = secret.split(separator: "-").map { APIKey.Scope(rawValue: String($0.filter { $0 != "@" })) }
        guard !words.isEmpty, words.allSatisfy({ $0 != nil }) else {
            throw Problem(.unauthenticated, "This key is not known.")
        }
        return APIKey(
            id: UUID(), name: "test", scopes: Set(words.compactMap(\.self)),
            reach: AppReach(of: secret.hasSuffix("@") ? [BundleID(rawValue: "com.example.Stadium")!] : nil),
            prefix: "gs_",
            createdAt: Samples.now, revokedAt: nil)
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: String

        var location: String? { headers[.location] }
        var cookie: String? { headers[.setCookie] }
    }

    /// Opens a page; `secret` is what the cookie has, `nil`: there is none.
    func get(_ path: String, as secret: String? = "admin") async throws -> Answer {
        try await send(.get, path, cookie: secret)
    }

    /// Sends a form.
    func post(
        _ path: String, _ form: [(String, String)] = [], headers: [String: String] = [:]
    ) async throws -> Answer {
        let body = form.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        return try await send(.post, path, cookie: nil, headers: type.merging(headers) { $1 }, body: body)
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, cookie: String?, headers: [String: String] = [:],
        body: String = ""
    ) async throws -> Answer {
        var fields: HTTPFields = [:]
        if let cookie { fields[.cookie] = "grandstand-console=\(cookie)" }
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        let request = Request(
            head: HTTPRequest(
                method: method, scheme: nil, authority: "stadium.example", path: path, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer(string: body)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let source = ConsoleSource(
            logger: logger, requestID: "1a2b", endpointPath: EndpointPath(),
            identify: { [identify] in try identify($0) })
        let response = try await console().responder().respond(to: request, context: ConsoleContext(source: source))
        let collected = Collector.Bytes()
        try await response.body.write(Collector(bytes: collected))
        return Answer(
            status: response.status.code, headers: response.headers,
            body: String(decoding: collected.value, as: UTF8.self))
    }

    private func console() throws -> Console {
        Console(
            Console.Dependencies(
                apps: apps, channels: channels, events: events, outbox: outbox, quirks: quirks, auditLog: auditLog,
                reconciliations: reconciliations, gateway: gateway, tenure: ChannelTenure(), isSecure: false,
                status: { Self.statuses[$0] ?? .internalServerError }, now: { Samples.now }),
            templates: try ConsoleTemplates())
    }

    /// Of the kinds that pages come to; the table is the API's.
    private static let statuses: [Problem.Kind: HTTPResponse.Status] = [
        .forbidden: .forbidden, .unauthenticated: .unauthorized, .rateLimited: .tooManyRequests,
        .invalidRequest: .unprocessableContent, .notFound: .notFound, .eventNotFound: .notFound,
        .appNotFound: .notFound, .reconciliationNotFound: .notFound, .unsupportedMediaType: .unsupportedMediaType,
        .bodyTooLarge: .contentTooLarge, .storeUnavailable: .serviceUnavailable,
    ]
}

/// Takes down what a body writes.
private struct Collector: ResponseBodyWriter {
    final class Bytes { var value: [UInt8] = [] }

    let bytes: Bytes

    mutating func write(_ buffer: ByteBuffer) async throws { bytes.value += buffer.readableBytesView }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
