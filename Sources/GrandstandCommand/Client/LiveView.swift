internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient

/// What goes on for a while, and is told meanwhile.
extension ClientOptions {
    /// Prints what becomes of an event's broadcasts, a line for each change, until the process is stopped.
    func watch(_ key: String) async throws {
        let server = try ServerAccess()
        do {
            for try await update in server.client.stream(key) {
                print(json ? update.data.description : Self.lines(update).joined(separator: "\n"))
                fflush(nil)
            }
        } catch let problem as ServerProblem {
            throw ServerAccess.refusal(problem)
        } catch let error as URLError {
            throw server.silence(error)
        }
    }

    private static func lines(_ update: GrandstandClient.EventUpdate) -> [String] {
        switch update.content {
        case .snapshot(let board):
            ["\(board.eventKey) is \(board.state)"] + board.broadcasts.reversed().map(line)
        case .broadcast(let broadcast): [line(broadcast)]
        case .state(let state): ["the event is \(state)"]
        case .other(let name): ["\(name) \(update.data)"]
        }
    }

    private static func line(_ broadcast: GrandstandClient.LiveBroadcast) -> String {
        let counts = broadcast.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return
            "\(RFC3339.text(broadcast.acceptedAt))  \(broadcast.event)  \(broadcast.state)  \(counts.joined(separator: ", "))  \(broadcast.id)"
    }

    /// Shows a broadcast that was accepted; with `wait` once nothing more will happen to it.
    func settle(_ accepted: JSONValue?, if wait: Bool, _ columns: [String]) async throws {
        guard wait, let id = accepted?["id"]?.string else { return show(accepted, columns) }
        let settled = try await poll(.getBroadcast(id)) { broadcast in
            let counts = broadcast.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return (counts.joined(separator: ", "), broadcast.state == .done || broadcast.state == .cancelled)
        }
        show(settled, columns)
    }

    /// An event once no channel of it is being made any more.
    func channels(of key: String) async throws -> JSONValue? {
        try await poll(.getEvent(key)) { event in
            let open = event.audiences.filter { $0.channel.state == .pending }.count
            let all = event.audiences.count
            return ("channels: \(all - open) of \(all)", open == 0)
        }
    }

    /// Asks until it is done, and says how far it is whenever that changes.
    private func poll<Value>(
        _ call: GrandstandClient.Call<Value>, _ describe: (Value) -> (text: String, isDone: Bool)
    ) async throws -> JSONValue? {
        let server = try ServerAccess()
        var said: String?
        while true {
            let reply = try await server.reply(to: call)
            let state = describe(reply.value)
            if state.text != said { Terminal.progress(state.text, isLast: state.isDone) }
            said = state.text
            if state.isDone { return try ServerAccess.json(of: reply.answer) }
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}
