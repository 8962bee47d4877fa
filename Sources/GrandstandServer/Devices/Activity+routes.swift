internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `…/installations/{installationId}/activities`: Live Activities that apps report.
extension API {
    var activityRoutes: [Route] {
        let installations = stores.installations
        return [
            own(.putActivity) { id, secret, request, context in
                let activity = try context.activityID()
                let draft = try Contract.ActivityDraft.read(try await request.json(upTo: DeviceBounds.body))
                let isNew = try await installations.put(
                    draft, as: activity, of: id, secret: secret, now: now())
                return .json(Contract.Registered(installationId: id.id.words), status: isNew ? .created : .ok)
            },
            own(.forgetActivity) { id, secret, _, context in
                try await installations.forget(
                    activity: try context.activityID(), of: id, secret: secret)
                return .noContent
            },
        ]
    }
}

extension APIContext {
    /// - Throws: `invalid-request`.
    fileprivate func activityID() throws(Problem) -> String {
        let text = text("activityId")
        let rule = TextRule.activityId
        guard rule.accepts(text) else {
            throw Problem.invalid(
                "The activity ID in the path is not valid. \(rule.sentence)", at: "activityId", rule.sentence)
        }
        return text
    }
}
