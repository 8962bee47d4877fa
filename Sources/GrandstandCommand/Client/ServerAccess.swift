internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON

/// Where a running server is, and with which key it is asked.
struct ServerAccess: Sendable {
    /// What talks to it.
    let client: GrandstandClient
    private let address: String

    /// - Parameters:
    ///   - url: over `GRANDSTAND_URL`.
    ///   - key: over `GRANDSTAND_API_KEY`.
    ///   - isOpen: whether what is asked needs no key.
    /// - Throws: `StartError` for an address that is none, or without a key.
    init(
        url given: String? = nil, key: String? = nil, isOpen: Bool = false,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let address = given ?? value("GRANDSTAND_URL") ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), url.host() != nil else {
            let name = given == nil ? "GRANDSTAND_URL" : "--url"
            throw StartError("\(name): \(address) is not a URL such as http://127.0.0.1:8080")
        }
        let secret = key ?? value("GRANDSTAND_API_KEY")
        guard secret != nil || isOpen else {
            throw StartError(
                "GRANDSTAND_API_KEY: set it to a key's secret. `grandstand keys create` makes one, on the server's machine; "
                    + "`grandstand key create` does from anywhere, with an admin's key")
        }
        self.address = address
        // A person waits: a server that is not there is found out in two seconds, one that is slow has a minute.
        client = GrandstandClient(
            server: url, key: secret, retry: .init(attempts: 4, firstWait: 0.3), timeout: 60)
    }

    /// Makes a call and returns its answer, whatever its status.
    ///
    /// - Throws: `StartError` with why there was no answer.
    func answer<Value>(to call: GrandstandClient.Call<Value>) async throws -> GrandstandClient.Answer {
        do {
            return try await client.exchange(call)
        } catch let error as URLError {
            throw silence(error)
        }
    }

    /// What is said of a server that does not answer.
    func silence(_ error: URLError) -> StartError {
        StartError(
            "\(address) does not answer: \(error.localizedDescription); is the server running, and GRANDSTAND_URL its address?"
        )
    }

    /// Why a server cannot be asked now.
    func describe(_ error: any Error) -> String {
        (error as? URLError).map { silence($0).description } ?? "\(address): \(error)"
    }

    /// The JSON of an answer; `nil` for one without a body.
    ///
    /// - Throws: `StartError` with title, detail and fields of a refusal.
    static func json(of answer: GrandstandClient.Answer) throws -> JSONValue? {
        guard (200..<300).contains(answer.status) else { throw refusal(ServerProblem(answer)) }
        guard !answer.body.isEmpty else { return nil }
        do {
            return try JSONValue(parsing: Array(answer.body), maximumValues: .max)
        } catch {
            throw StartError("This is no answer of Grandstand's, for it is not JSON: is GRANDSTAND_URL its address?")
        }
    }

    /// The text that a call without a key answers.
    ///
    /// - Throws: `StartError`, as above.
    static func text(of call: GrandstandClient.Call<String>) async throws -> String {
        let answer = try await ServerAccess(isOpen: true).answer(to: call)
        guard (200..<300).contains(answer.status) else { throw refusal(ServerProblem(answer)) }
        return String(decoding: answer.body, as: UTF8.self)
    }

    /// A refusal in words, with what to do where the server cannot know it.
    static func refusal(_ problem: ServerProblem) -> StartError {
        let faults = problem.errors.map { "\n  \($0.pointer): \($0.detail)" }.joined()
        let remedy: String? =
            switch problem.kind {
            case .unauthenticated: "GRANDSTAND_API_KEY is no key of this server's, or has ended."
            case .internalError: problem.requestId.map { "The server's log has it under \($0)." }
            case nil where problem.slug.isEmpty:
                "This is no answer of Grandstand's: is GRANDSTAND_URL its address?"
            default: nil
            }
        return StartError(problem.description + faults + (remedy.map { "\n  \($0)" } ?? ""))
    }
}
