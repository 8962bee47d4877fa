internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import JSON

/// The match of the demo, as Demo/Data has it.
struct DemoEvent: Sendable, Decodable {
    struct ContentType: Sendable, Decodable {
        let name: String
        let declaration: RawJSON
    }

    struct Start: Sendable, Decodable {
        let attributesType: String
        let attributes: RawJSON
        let contentState: RawJSON
        let alert: RawJSON
        let alertsByLocale: [String: RawJSON]
    }

    /// A moment of the match: the state that is reported, and the alert that the content type's rules make of it.
    struct Moment: Sendable, Decodable {
        struct Body: Sendable, Decodable {
            let event: GrandstandClient.BroadcastKind
            let contentState: RawJSON
            let alert: RawJSON?
        }

        let label: String
        let body: Body

        var isEnd: Bool { body.event == .end }

        /// Whether a card shows this moment.
        ///
        /// - Parameter rings: whether the card must have this moment's alert, too.
        func isShown(by card: APNsSimulator.Activity, rings: Bool) throws -> Bool {
            guard card.state == (isEnd ? .ended : .active),
                try Self.canonical(Data(card.contentState.bytes)) == Self.canonical(body.contentState.bytes)
            else { return false }
            guard rings, let alert = body.alert else { return true }
            return try card.alert.map { try Self.canonical(Data($0.bytes)) } == Self.canonical(alert.bytes)
        }

        /// JSON text that is the same for equal values.
        static func canonical(_ json: Data) throws -> Data {
            try JSONSerialization.data(
                withJSONObject: try JSONSerialization.jsonObject(with: json), options: [.sortedKeys])
        }
    }

    let eventKey: String
    let name: String
    let kind: String
    let topic: String
    let start: Start
    let contentType: ContentType
    let broadcasts: [Moment]

    /// - Throws: `DecodingError` for a file in the wrong form.
    static func final() throws -> DemoEvent {
        let text = EmbeddedFiles.texts["world-cup-final-2022.json"] ?? ""
        return try JSONValue(parsing: Array(text.utf8)).decode(DemoEvent.self)
    }
}
