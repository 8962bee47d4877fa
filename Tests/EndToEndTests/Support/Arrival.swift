internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// The member of a content state that identifies its message at the simulator: `[match, number]`.
enum Mark {
    static let member = "mark"

    /// A content state with only this member.
    static func content(_ match: Int, _ number: Int) throws -> RawJSON {
        try RawJSON(json: #"{"\#(member)": [\#(match), \#(number)]}"#)
    }

}

/// A marked message that the simulator accepted.
struct Arrival: Sendable {
    let at: Date
    let channelID: String
    let timestamp: Int
    let match: Int
    let number: Int

    fileprivate init?(_ entry: JournalEntry) {
        let aps = entry.request.json["aps"]
        let mark = aps?["content-state"]?[Mark.member]
        guard entry.operation == .broadcast, entry.status == 200,
            let channelID = entry.request[header: APNsHeader.channelID], let timestamp = aps?["timestamp"]?.int,
            let match = mark?[0]?.int, let number = mark?[1]?.int
        else { return nil }
        at = Date(timeIntervalSince1970: entry.time)
        self.channelID = channelID
        self.timestamp = timestamp
        (self.match, self.number) = (match, number)
    }
}

extension Simulator {
    /// The marked messages that the simulator accepted, in order.
    var arrivals: [Arrival] { journal().compactMap(Arrival.init) }
}

/// Checks the order of messages on their channels.
struct ArrivalOrder: Sendable {
    /// Texts about messages whose timestamp or number is not higher than the timestamp or number of the previous
    /// message on the same channel.
    private(set) var backwards: [String] = []
    /// The number of messages that were repeated unchanged, because their answer was lost.
    private(set) var repeats = 0

    /// - Parameter numbersRise: `false` if the end of an activity may be taken back: then an earlier state, with a
    ///   lower number, is sent again.
    init(_ arrivals: [Arrival], numbersRise: Bool = true) {
        var last: [String: Arrival] = [:]
        for arrival in arrivals {
            let before = last.updateValue(arrival, forKey: arrival.channelID)
            guard let before else { continue }
            if (arrival.timestamp, arrival.number) == (before.timestamp, before.number) {
                repeats += 1
            } else if arrival.timestamp <= before.timestamp || numbersRise && arrival.number <= before.number {
                backwards.append(
                    "match \(arrival.match): message \(arrival.number) at \(arrival.timestamp) after "
                        + "\(before.number) at \(before.timestamp)")
            }
        }
    }
}
