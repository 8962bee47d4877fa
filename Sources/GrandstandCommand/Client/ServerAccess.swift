internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient

/// Where a running server is, and with which key it is asked.
struct ServerAccess: Sendable {
    private let address: String
    private let url: URL
    private let key: String

    /// - Parameters:
    ///   - url: over `GRANDSTAND_URL`.
    ///   - key: over `GRANDSTAND_API_KEY`.
    /// - Throws: `StartError` for an address that is none, or without a key.
    init(
        url given: String? = nil, key: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let address = given ?? value("GRANDSTAND_URL") ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), url.host() != nil else {
            let name = given == nil ? "GRANDSTAND_URL" : "--url"
            throw StartError("\(name): \(address) is not a URL such as http://127.0.0.1:8080")
        }
        guard let key = key ?? value("GRANDSTAND_API_KEY") else {
            throw StartError("GRANDSTAND_API_KEY: set it to a key's secret; `grandstand keys create` makes one")
        }
        self.address = address
        self.url = url
        self.key = key
    }

    /// Makes a call and returns its answer, whatever its status.
    ///
    /// - Throws: `StartError` with why there was no answer.
    func exchange(
        _ method: String, _ path: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
        headers: [String: String] = [:]
    ) async throws -> GrandstandClient.Answer {
        let parameters = query.compactMap { parameter in
            parameter.value.map { "\(parameter.name)=\(GrandstandClient.encoded($0))" }
        }
        let target = parameters.isEmpty ? path : path + "?" + parameters.joined(separator: "&")
        do {
            return try await GrandstandClient(url: url, apiKey: key, timeout: 60).send(
                method, target, json: body.map { Data($0) }, headers: headers)
        } catch {
            throw StartError("\(address) does not answer: \(error.localizedDescription)")
        }
    }

    /// The JSON of an answer; `nil` for one without a body.
    ///
    /// - Throws: `StartError` with title, detail and fields of a refusal.
    static func json(of answer: GrandstandClient.Answer) throws -> JSONValue? {
        guard (200..<300).contains(answer.status) else {
            let problem = ServerProblem(answer)
            let faults = problem.errors.map { "\n  \($0.pointer): \($0.detail)" }
            throw StartError(problem.description + faults.joined())
        }
        return answer.body.isEmpty ? nil : try JSONValue(parsing: Array(answer.body), maximumValues: .max)
    }
}
