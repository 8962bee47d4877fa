internal import ContractKit
internal import Foundation
internal import GrandstandContract
internal import HTTPTypes

@testable internal import GrandstandServer

extension OpenAPIDocument {
    /// The document, as it is served.
    static let served = OpenAPIDocument(GrandstandServer.EmbeddedFiles.texts["openapi.yaml"] ?? "")
}

// Checks of an answer against the contract.
extension OpenAPIDocument {
    private static let templates = served.operations.map {
        ($0, $0.path.split(separator: "/", omittingEmptySubsequences: false))
    }
    private static let problem = served.schema("Problem") ?? .null
    private static let kinds = served.schema("ProblemKind")?["x-problems"] ?? .null

    /// The faults of an answer; empty if there are none. An answer to a path that is not in the contract must be one of
    /// the contract's problems, or come from a route of the test.
    static func faults(of answer: RouteWorld.Answer, to method: String, _ uri: String) -> [String] {
        let path = String(uri.prefix { $0 != "?" })
        let isHead = method == "HEAD"
        let operation = operation(isHead ? "GET" : method, path)
        // The idempotency store's answer was made by the test, so it need not follow the contract.
        if answer.headers[.idempotentReplayed] != nil { return [] }
        if answer.headers[.contentType] == "application/problem+json" {
            return faults(ofProblem: answer, isHead: isHead)
        }
        guard let operation else { return [] }
        guard let response = responses(of: operation, answer.status) else {
            return ["\(answer.status) is not in the contract"]
        }
        var faults: [String] = []
        for (name, header) in response["headers"]?.members ?? [] {
            let header = served.resolved(header)
            let value = HTTPField.Name(name).flatMap { answer.headers[$0] }
            if let value, let schema = header["schema"] {
                faults += served.faults(of: .text(value), in: schema, at: name)
            } else if value == nil, header["required"] == .bool(true) {
                faults.append("the header \(name) is missing")
            }
        }
        let type = answer.headers[.contentType]?.split(separator: ";").first.map(String.init)
        guard let content = response["content"] else {
            return faults + (answer.body.isEmpty ? [] : ["it has a body, and the contract has none"])
        }
        guard let type, let schema = content[type]?["schema"] else {
            return faults + ["\(type ?? "no type") is not in the contract"]
        }
        guard type == "application/json", !isHead else { return faults }
        guard let value = try? YAML(json: Data(answer.body)) else { return faults + ["it is no JSON"] }
        return faults + served.faults(of: value, in: schema)
    }

    private static func responses(of operation: Operation, _ status: Int) -> YAML? {
        operation.value["responses"]?[String(status)].map(served.resolved)
    }

    /// The operation that a path belongs to. If several templates match, it is the one with the fewest parameters.
    private static func operation(_ method: String, _ path: String) -> Operation? {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return templates.filter { operation, template in
            operation.method == method && template.count == segments.count
                && zip(template, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }.max { one, other in
            one.0.path.count { $0 == "{" } > other.0.path.count { $0 == "{" }
        }?.0
    }

    /// The faults of a problem. It must have its kind's title, one of its kind's statuses, and only the members that
    /// all problems have or that its kind has.
    private static func faults(ofProblem answer: RouteWorld.Answer, isHead: Bool) -> [String] {
        guard !isHead else { return [] }
        guard let value = try? YAML(json: Data(answer.body)) else { return ["it is no JSON"] }
        let slug = last(value["type"]?.string ?? "")
        guard let kind = kinds[slug] else {
            return ["\(slug) is no kind of problem in the contract"]
        }
        var faults = served.faults(of: value, in: problem)
        if value["title"] != kind["title"] { faults.append("its title is not that of \(slug)") }
        if !(kind["status"]?.elements ?? []).contains(.number(Double(answer.status))) {
            faults.append("\(slug) does not come with \(answer.status)")
        }
        let allowed = ["type", "title", "status", "detail", "requestId"] + (kind["members"]?.strings ?? [])
        for member in value.members where !allowed.contains(member.name) {
            faults.append("\(slug) has no member \(member.name)")
        }
        return faults
    }
}

extension Contract.Operation {
    /// The path of this operation, with sample values for its parameters.
    var sample: String {
        let values = [
            "{bundleId}": "com.example.Stadium", "{attributesType}": "MatchAttributes", "{environment}": "production",
            "{key}": "derby",
            "{id}": "11111111-2222-4333-8444-555555555555", "{delivery}": "11111111-2222-4333-8444-555555555555",
            "{installationId}": "11111111-2222-4333-8444-555555555555",
            "{activityId}": "1",
        ]
        return path.split(separator: "/", omittingEmptySubsequences: false).map { values[String($0)] ?? String($0) }
            .joined(separator: "/")
    }
}
