internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import JSON

/// The match of the demo, as Demo/Data has it.
struct DemoEvent: Sendable, Decodable {
    /// A moment of the match: the state that is reported, and the alert that the content type's rules make of it.
    struct Moment: Sendable, Decodable {
        let label: String
        let contentState: RawJSON
        let final: Bool?
        let alert: RawJSON?

        /// Whether a card shows this moment.
        ///
        /// - Parameter rings: whether the card must have this moment's alert, too.
        func isShown(by card: APNsSimulator.Activity, rings: Bool) throws -> Bool {
            guard card.state == (final == true ? .ended : .active),
                try Self.canonical(Data(card.contentState.bytes)) == Self.canonical(contentState.bytes)
            else { return false }
            guard rings, let alert else { return true }
            return try card.alert.map { try Self.canonical(Data($0.bytes)) } == Self.canonical(alert.bytes)
        }

        /// JSON text that is the same for equal values.
        static func canonical(_ json: Data) throws -> Data {
            try JSONSerialization.data(
                withJSONObject: try JSONSerialization.jsonObject(with: json), options: [.sortedKeys])
        }
    }

    let eventKey: String
    /// What is declared. Its start has no time.
    let event: GrandstandClient.EventDraft
    /// The declaration of the content type that `event` names.
    let contentType: RawJSON
    let broadcasts: [Moment]

    /// - Throws: `DecodingError` for a file in the wrong form.
    static func final() throws -> DemoEvent {
        let text = EmbeddedFiles.texts["world-cup-final-2022.json"] ?? ""
        return try JSONValue(parsing: Array(text.utf8)).decode(DemoEvent.self)
    }
}
