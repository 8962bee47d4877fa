internal import Foundation
internal import GrandstandClient

/// Cards whose channel was replaced hear nothing more. When the app comes to the front, each event with a card is looked up
/// once, and what is no longer true is mended.
extension LiveActivities {
    /// Looks after the cards that listen to a channel.
    func heal() async {
        guard let condition, condition.hasChannels, courier.keyRefusal == nil else { return }
        let cards = condition.activities.filter { $0.state == .active || $0.state == .stale }
        for card in cards.sorted(by: { $0.id < $1.id }) {
            // One with a token is reached by that.
            guard let entry = record.activities[card.id], entry.updateToken == nil else { continue }
            await heal(card.id, entry, await find(card.eventKey, variant: entry.variant))
        }
    }

    private func heal(_ id: String, _ entry: ActivityEntry, _ found: LookupOutcome) async {
        switch found {
        case .refused(let problem) where problem.kind == .eventEnded:
            // It may have missed the end, so it shows the last content now.
            await host.end(id, contentState: problem.contentState?.bytes, atOnce: false)
        case .found(let channel?, let content, let variant, _):
            guard var wish = await host.wish(for: id) else { return }
            switch entry.channelID {
            case channel: return
            case nil where content.map({ wish.shows($0) }) ?? true:
                // A push started it, and ActivityKit does not tell on which channel. It shows the newest, so it hears.
                try? update { $0.learn(channel, variant, of: id) }
            default:
                wish.replaces = id
                wish.variant = variant
                wish.since = time.now()
                // Written first: a kill between the end of the one and the start of the other loses no card.
                guard (try? update { $0.want(wish) }) != nil else { return }
                _ = await attempt(wish).value
            }
        case .found, .refused, .unanswered: return
        }
    }
}

extension WantedStart {
    /// Whether a content has the same JSON values as this one, for the members that this one has: a newer server may send more.
    func shows(_ content: Data) -> Bool {
        guard let mine = try? JSONSerialization.jsonObject(with: contentState) as? [String: Any],
            let theirs = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        else { return true }
        return mine.allSatisfy { name, value in theirs[name].map { "\($0)" == "\(value)" } ?? true }
    }
}
