internal import Foundation
internal import GrandstandClient
internal import JSON

/// Commands that wait for the progress of something and print it.
extension ClientOptions {
    /// What is known about the progress of something. Nothing is expected before `next`.
    typealias Progress = (text: String, isDone: Bool, next: Date?)

    /// Shows an accepted broadcast. With `wait`, first waits until every delivery is settled. A scheduled broadcast is
    /// settled after its send time.
    func settle(_ accepted: JSONValue?, if wait: Bool) async throws {
        guard wait, let id = accepted?["id"]?.string else { return try show(accepted) }
        let settled = try await poll(.getBroadcast(id)) { broadcast -> Progress in
            if broadcast.state == .scheduled, let sendAt = broadcast.sendAt {
                return ("scheduled: waits until \(RFC3339.text(sendAt)); Ctrl-C leaves it scheduled", false, sendAt)
            }
            let counts = broadcast.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let text = counts.isEmpty ? "\(broadcast.state)" : counts.joined(separator: ", ")
            return (text, broadcast.state == .done || broadcast.state == .cancelled, nil)
        }
        try show(settled)
    }

    /// Returns the event as soon as none of its channels is pending.
    func channels(of key: String) async throws -> JSONValue? {
        try await poll(.getEvent(key)) { event -> Progress in
            let open = event.audiences.filter { $0.channel.state == .pending }.count
            return ("channels: \(event.audiences.count - open) of \(event.audiences.count)", open == 0, nil)
        }
    }

    /// Repeats the request until the work is done, and reports each change of the progress. If the server is away, this
    /// method waits for the server, because the server has already accepted the work.
    func poll<Value>(
        _ call: GrandstandClient.Call<Value>, _ describe: (Value) -> Progress
    ) async throws -> JSONValue? {
        let server = try ServerAccess()
        var said: String?
        func say(_ text: String, isLast: Bool = false) {
            if text != said { Terminal.progress(text, isLast: isLast) }
            said = text
        }
        while true {
            do {
                let reply = try await server.client.reply(to: call)
                let (text, isDone, next) = describe(reply.value)
                say(text, isLast: isDone)
                if isDone { return try ServerAccess.json(of: reply.answer) }
                // The pause is short in any case, because clocks may differ.
                try await Task.sleep(for: .seconds(min(max(next?.timeIntervalSinceNow ?? 0, 0.25), 5)))
            } catch let problem as ServerProblem where problem.status < 500 && problem.status != 429 {
                throw ServerAccess.refusal(problem)
            } catch  where error is ServerProblem || error is URLError {
                say(server.describe(error))
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}
