internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

extension Refusal {
    /// Sends the request, and checks that the answer is the expected problem and has every member of a problem
    /// document. If `world` has no ports, this also shows that no port was called, because the answer would be 500.
    func check(
        in world: RouteWorld = RouteWorld(), as secret: String = "gs_admin",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await world(method, path, body, headers: headers, as: secret)
        expect(
            status: answer.status, slug: answer.slug, pointers: answer.pointers, text: answer.text,
            sourceLocation: sourceLocation)
        #expect(answer.headers[.contentType] == "application/problem+json", sourceLocation: sourceLocation)
        let slug = answer.slug ?? ""
        #expect(
            answer.json["type"] as? String == "https://grandstand.dev/problems/\(slug)", sourceLocation: sourceLocation)
        #expect((answer.json["title"] as? String)?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(answer.json["status"] as? Int == answer.status, sourceLocation: sourceLocation)
        #expect(!answer.detail.isEmpty, sourceLocation: sourceLocation)
        #expect(answer.json["requestId"] as? String == answer.headers[.xRequestID], sourceLocation: sourceLocation)
    }
}
