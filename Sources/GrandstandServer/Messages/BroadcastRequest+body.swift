internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

extension BroadcastRequest {
    /// Reads the body of `POST /v1/events/{key}/broadcasts`. The bytes of `contentState` and `alert` stay as the caller
    /// wrote them.
    init(body: JSONValue) throws(Problem) {
        self = try Contract.BroadcastDraft.read(body) { draft, faults throws(Problem) in
            try BroadcastRequest(draft, &faults)
        }
    }

    init(_ draft: Contract.BroadcastDraft, _ faults: inout RequestFaults) throws(Problem) {
        let isEnd = draft.event == .end
        if !isEnd, draft.contentState == nil, draft.sendAt == nil {
            faults.add("/contentState", "contentState is required. Only a message with sendAt may leave it out.")
        }
        if !isEnd, draft.dismissalDate != nil {
            faults.add("/dismissalDate", "dismissalDate is allowed only for an end.")
        }
        if let alert = draft.alert { faults.requireText(of: alert, at: "/alert", Self.advice) }
        self.init(
            payload: BroadcastPayload(
                event: isEnd ? .end : .update, contentState: draft.contentState?.array,
                alert: draft.alert?.array, staleDate: draft.staleDate?.epoch,
                dismissalDate: draft.dismissalDate?.epoch, relevanceScore: draft.relevanceScore?.array),
            priority: try APNsPriority(draft.priority), expiresIn: draft.expiresIn,
            apnsExpiration: draft.apnsExpiration)
        audiences = try [AudienceSelector](draft.audiences)
        byVariant = draft.byVariant ?? [:]
        for (name, content) in byVariant.sorted(by: { $0.key < $1.key }) {
            if let alert = content.alert { faults.requireText(of: alert, at: "/byVariant/\(name)/alert", Self.advice) }
        }
        switch draft.sendAt {
        case .at(let date): sendAt = date
        case .afterStart(let time): sendAfterStart = time.afterStart
        case nil: break
        }
    }

    private static let advice = "Leave alert out for an update that does not alert."
}

extension Date {
    /// The time in Apple's payload: whole seconds since 1970.
    var epoch: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
