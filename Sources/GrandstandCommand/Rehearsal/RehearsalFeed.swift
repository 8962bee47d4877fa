internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import JSON

/// A recorded feed of one match. Each event of a rehearsal gets the states of the feed. The file has one line for each
/// state, in order: `{"at": 61.5, "contentState": {…}}`. `at` is the number of seconds after the event's start. The
/// last state ends the event.
struct RehearsalFeed: Sendable {
    private(set) var times: [TimeInterval] = []
    private(set) var contents: [JSONValue] = []

    /// - Throws: `StartError` with the first invalid line.
    init(file path: String) throws {
        for (index, line) in try content(of: "@\(path)").split(separator: UInt8(ascii: "\n")).enumerated() {
            let value = try? JSONValue(parsing: Array(line))
            guard case .number(let text)? = value?["at"]?.kind, let at = Double(text), at >= times.last ?? 0,
                let content = value?["contentState"], case .object = content.kind
            else {
                throw StartError(
                    "--feed \(path), line \(index + 1): {\"at\": 61.5, \"contentState\": {…}} was expected; at is the seconds "
                        + "after the event's start, and not less than in the line above.")
            }
            times.append(at)
            contents.append(content)
        }
        if times.isEmpty { throw StartError("--feed \(path): the file has no states") }
    }
}
