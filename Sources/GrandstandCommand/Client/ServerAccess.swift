internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// The address of a running server, and the key for its calls.
struct ServerAccess: Sendable {
    let client: GrandstandClient
    private let address: String
    private let hasKey: Bool

    /// - Throws: `StartError` for an invalid address.
    init() throws {
        func value(_ name: String) -> String? {
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let address = value("GRANDSTAND_URL") ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), url.host() != nil else {
            throw StartError("GRANDSTAND_URL: \(address) is not a URL such as http://127.0.0.1:8080")
        }
        let secret = value("GRANDSTAND_API_KEY")
        self.address = address
        hasKey = secret != nil
        // A person waits for the answer, so the attempts end within about two seconds if no server answers. A slow
        // server may take a minute.
        client = GrandstandClient(
            server: url, key: secret, retry: .init(attempts: 4, firstWait: 0.3), timeout: 60)
    }

    /// Makes a call and returns its answer, whatever its status.
    ///
    /// - Throws: `StartError` with the reason why there was no answer, or if the key is missing.
    func answer<Value>(to call: GrandstandClient.Call<Value>) async throws -> GrandstandClient.Answer {
        guard hasKey || call.operation.scopes == nil else {
            throw StartError(
                "GRANDSTAND_API_KEY: set it to a key's secret. `grandstand keys create` creates one on the server's machine; "
                    + "`grandstand key create` does this from anywhere, with an admin key")
        }
        do {
            return try await client.exchange(call)
        } catch let error as URLError {
            throw silence(error)
        }
    }

    /// The error for a server that does not answer.
    private func silence(_ error: URLError) -> StartError {
        StartError(
            "\(address) does not answer: \(error.localizedDescription); is the server running, and is GRANDSTAND_URL correct?"
        )
    }

    /// Says why the server cannot be asked now.
    func describe(_ error: any Error) -> String {
        (error as? URLError).map { silence($0).description } ?? "\(address): \(error)"
    }

    /// The JSON of an answer; `nil` for an answer without a body.
    ///
    /// - Throws: `StartError` with title, detail and fields of a refusal.
    static func json(of answer: GrandstandClient.Answer) throws -> JSONValue? {
        guard (200..<300).contains(answer.status) else { throw refusal(ServerProblem(answer)) }
        guard !answer.body.isEmpty else { return nil }
        do {
            return try JSONValue(parsing: Array(answer.body), maximumValues: .max)
        } catch {
            throw StartError("The answer is not JSON, so it is not from Grandstand: is GRANDSTAND_URL correct?")
        }
    }

    /// The message for a refusal, with advice that the server cannot give.
    static func refusal(_ problem: ServerProblem) -> StartError {
        let faults = problem.errors.map { "\n  \($0.pointer): \($0.detail)" }.joined()
        let remedy: String? =
            switch problem.kind {
            case .unauthenticated: "GRANDSTAND_API_KEY is not a key of this server, or it has expired or was revoked."
            case .internalError: problem.requestId.map { "The server's log has the error under \($0)." }
            case nil where problem.slug.isEmpty:
                "This answer is not from Grandstand: is GRANDSTAND_URL correct?"
            default: nil
            }
        return StartError(problem.description + faults + (remedy.map { "\n  \($0)" } ?? ""))
    }
}
