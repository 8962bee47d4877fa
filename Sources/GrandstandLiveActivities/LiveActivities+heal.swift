internal import Foundation
internal import GrandstandClient

/// Repairs activities whose channel was replaced, because they get no more updates on the old channel. When the app
/// comes to the foreground, the event of each activity is looked up once.
extension LiveActivities {
    /// Checks the activities that listen to a channel.
    func heal() async {
        guard let condition, condition.hasChannels, courier.keyRefusal == nil else { return }
        let cards = condition.activities.filter { $0.state == .active || $0.state == .stale }
        for card in cards.sorted(by: { $0.id < $1.id }) {
            // An activity with a token gets its updates by token, so its channel need not be checked.
            guard let entry = record.activities[card.id], entry.updateToken == nil else { continue }
            await heal(card.id, entry, await find(card.eventKey, variant: entry.variant))
        }
    }

    private func heal(_ id: String, _ entry: ActivityEntry, _ found: LookupOutcome) async {
        switch found {
        case .refused(let problem) where problem.kind == .eventEnded:
            // The activity may have missed the push that ended it. So end the activity now, with the last content.
            await host.end(id, contentState: problem.contentState?.bytes, atOnce: false)
        case .found(let channel?, let content, let variant, _):
            guard var start = await host.savedStart(for: id) else { return }
            switch entry.channelID {
            case channel: return
            case nil where content.map({ start.shows($0) }) ?? true:
                // A push started the activity, and ActivityKit does not say on which channel the activity listens. The
                // activity shows the server's newest content, or the server has no content. So the activity probably
                // listens to the event's present channel, and this channel is recorded.
                try? update { $0.learn(channel, variant, of: id) }
            default:
                start.replaces = id
                start.variant = variant
                start.since = time.now()
                // Record the new start first. If the app is killed between the end and the start, the activity is not
                // lost.
                guard (try? update { $0.want(start) }) != nil else { return }
                _ = await attempt(start).value
            }
        case .found, .refused, .unanswered: return
        }
    }
}

extension WantedStart {
    /// Whether `content` and this start's `contentState` have the same JSON values in the members that occur in both. A
    /// newer server may send more members.
    func shows(_ content: Data) -> Bool {
        guard let mine = try? JSONSerialization.jsonObject(with: contentState) as? [String: Any],
            let theirs = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        else { return true }
        return mine.allSatisfy { name, value in theirs[name].map { "\($0)" == "\(value)" } ?? true }
    }
}
