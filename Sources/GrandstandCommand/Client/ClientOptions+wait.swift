internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// Commands that wait for the progress of something and print it.
extension ClientOptions {
    /// Shows an accepted broadcast. With `wait`, first waits until every delivery is settled. A scheduled broadcast is
    /// settled after its send time.
    func settle(_ accepted: JSONValue?, if wait: Bool) async throws {
        guard wait, let id = accepted?["id"]?.string else { return try show(accepted) }
        let settled = try await poll(.getBroadcast(id)) { broadcast in
            if broadcast.state == .scheduled, let sendAt = broadcast.sendAt {
                let text = "scheduled: waits until \(RFC3339.text(sendAt)); Ctrl-C leaves it scheduled"
                return Progress(text: text, isDone: false, next: sendAt)
            }
            let counts = broadcast.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let isDone = broadcast.state == .done || broadcast.state == .cancelled
            return Progress(
                text: counts.isEmpty ? "\(broadcast.state)" : counts.joined(separator: ", "), isDone: isDone)
        }
        try show(settled)
    }

    /// Returns the event as soon as none of its channels is pending.
    func channels(of key: String) async throws -> JSONValue? {
        try await poll(.getEvent(key)) { event in
            let open = event.audiences.filter { $0.channel.state == .pending }.count
            let all = event.audiences.count
            return Progress(text: "channels: \(all - open) of \(all)", isDone: open == 0)
        }
    }

    /// The progress of something.
    private struct Progress {
        var text: String
        var isDone: Bool
        /// Nothing is expected before this time.
        var next: Date?

        /// The pause before the next request. It is short in any case, because clocks may differ.
        var pause: Duration {
            .seconds(next.map { min(max($0.timeIntervalSinceNow, 0.25), 5) } ?? 0.25)
        }
    }

    /// Repeats the request until the work is done, and reports each change of the progress. If the server is away, this
    /// method waits for the server, because the server has already accepted the work.
    private func poll<Value>(
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
                let progress = describe(reply.value)
                say(progress.text, isLast: progress.isDone)
                if progress.isDone { return try ServerAccess.json(of: reply.answer) }
                try await Task.sleep(for: progress.pause)
            } catch let problem as ServerProblem where problem.status < 500 && problem.status != 429 {
                throw ServerAccess.refusal(problem)
            } catch  where error is ServerProblem || error is URLError {
                say(server.describe(error))
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}
