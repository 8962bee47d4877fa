internal import Foundation
internal import GrandstandClient

/// Repairs activities whose channel was replaced, because they get no more updates on the old channel. When the app
/// comes to the foreground, the event of each activity is looked up once.
extension LiveActivities {
    /// Checks the activities that listen to a channel.
    func repairChannels() async {
        guard let condition, condition.supportsChannels, planner.keyRefusal == nil else { return }
        for id in condition.activities.filter(\.state.isUpdatable).map(\.id).sorted() {
            // An activity with a token gets its updates by token, so its channel need not be checked.
            guard let card = record.activities[id], card.updateToken == nil else { continue }
            do {
                await heal(card, try await lookUp(card.eventKey, variant: card.variant))
            } catch let problem as ServerProblem where problem.kind == .eventEnded {
                // The activity may have missed the push that ended it. So end it now, with the last content.
                await host.end(id, contentState: problem.contentState?.bytes, atOnce: false)
            } catch {}
        }
    }

    private func heal(_ card: DeviceActivity, _ found: Lookup) async {
        guard let channel = found.channelId, channel != card.channelID, var start = await host.makeStart(for: card.id)
        else { return }
        if card.channelID == nil, found.contentState.map({ start.shows($0.bytes) }) ?? true {
            // A push started the activity, and ActivityKit does not say on which channel the activity listens. The
            // activity shows the server's newest content, or the server has no content. So the activity probably
            // listens to the event's present channel, and this channel is recorded.
            try? update { $0.learn(channel, found.variant, of: card.id) }
            return
        }
        start.replaces = card.id
        start.variant = found.variant
        start.since = time.now()
        // Record the new start first. If the app is killed between the end and the start, the activity is not lost.
        guard (try? update { $0.wanted[start.startKey] = start }) != nil else { return }
        _ = await attempt(start).value
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
