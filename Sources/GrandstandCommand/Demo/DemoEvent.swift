internal import Foundation
internal import GrandstandClient

/// One event of the demo, from its data file.
struct DemoEvent: Sendable {
    struct Broadcast: Sendable {
        let label: String
        /// The broadcast's number in its event; the first is 1.
        let number: Int
        /// The body of the API request.
        let body: RawJSON
        let isEnd: Bool
        /// The content that APNs must receive, as JSON text with sorted keys.
        let contentState: Data
        /// The alert that APNs must receive, as JSON text with sorted keys; `nil`: there is no alert.
        let alert: Data?
    }

    let key: String
    let name: String
    let kind: String
    let contentType: (name: String, declaration: RawJSON)
    /// Whether the event's contents are reported as states, so that the content type's rules make the alerts.
    let isFed: Bool
    let broadcasts: [Broadcast]

    /// Reads a file of Demo/Data.
    ///
    /// - Throws: `PlayFailure` for a file in the wrong form.
    init(file: String) throws {
        let text = EmbeddedFiles.texts[file] ?? ""
        guard let file = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let key = file["eventKey"] as? String, let name = file["name"] as? String,
            let kind = file["kind"] as? String, let contentType = file["contentType"] as? [String: Any],
            let type = contentType["name"] as? String, let declaration = contentType["declaration"],
            let broadcasts = file["broadcasts"] as? [[String: Any]]
        else { throw PlayFailure("a data file of the demo is broken") }
        self.key = key
        self.name = name
        self.kind = kind
        self.contentType = (type, try RawJSON(json: JSONSerialization.data(withJSONObject: declaration)))
        isFed = file["isFed"] as? Bool ?? false
        self.broadcasts = try broadcasts.enumerated().map { index, entry in
            guard let label = entry["label"] as? String, let body = entry["body"] as? [String: Any],
                let contentState = body["contentState"]
            else { throw PlayFailure("a broadcast of \(key) is broken") }
            return Broadcast(
                label: label, number: index + 1, body: try RawJSON(json: JSONSerialization.data(withJSONObject: body)),
                isEnd: body["event"] as? String == "end", contentState: try Self.canonical(contentState),
                alert: try body["alert"].map { try Self.canonical($0) })
        }
    }

    /// JSON text that is the same for equal values.
    static func canonical(_ value: Any) throws -> Data {
        try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])
    }

    /// Like `canonical(_:)`, but for a value that is given as JSON text.
    static func canonical(json bytes: [UInt8]) throws -> Data {
        try canonical(try JSONSerialization.jsonObject(with: Data(bytes)))
    }

    /// The two events of the demo.
    static func all() throws -> [DemoEvent] {
        [
            try DemoEvent(file: "world-cup-final-2022.json"),
            try DemoEvent(file: "emoji-rangers.json"),
        ]
    }
}
