internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The content that a lock screen shows now in one app and variant: the newest content that Apple accepted.
struct ScoreCard: Sendable, Equatable {
    /// The app and the variant: `com.example.Stadium, de`.
    let whose: String
    /// The content in the compact form of the app's template; `nil`: the app has no template.
    let scoreCompact: String?
    let scoreExpanded: String?
    /// The content as JSON, if no template shows it.
    let scoreJSON: String?
    /// When the server accepted the message.
    let shownSince: Moment?
    /// Says that a newer message is on its way, or that there is no content yet.
    let scoreNote: String?

    /// The most cards on one page.
    static let limit = 12

    /// - Parameters:
    ///   - broadcasts: the newest of the event, in descending order.
    ///   - previews: the templates of the apps that have some.
    static func cards(
        _ event: Contract.Event, _ broadcasts: [Contract.Broadcast], _ previews: [BundleID: ContentPreview]
    )
        -> [ScoreCard]
    {
        var seen: Set<String> = []
        var cards: [ScoreCard] = []
        for audience in event.audiences where cards.count < limit {
            let whose = Wording.list(audience.bundleId, audience.variant)
            guard seen.insert(whose).inserted else { continue }
            cards.append(
                ScoreCard(whose, audience, broadcasts, BundleID(rawValue: audience.bundleId).flatMap { previews[$0] }))
        }
        return cards
    }

    private init(
        _ whose: String, _ audience: Contract.EventAudience, _ broadcasts: [Contract.Broadcast],
        _ preview: ContentPreview?
    ) {
        self.whose = whose
        let shown = broadcasts.first { $0.content(for: audience) != nil && $0.isAccepted(by: audience) }
        let content = shown?.content(for: audience)
        let text = preview?.shown(content)
        scoreCompact = text?.compact
        scoreExpanded = text?.expanded
        scoreJSON = text == nil ? content.map { ReadableJSON.text($0) } : nil
        shownSince = shown.map { Moment($0.acceptedAt, exact: true) }
        let coming = broadcasts.prefix { $0.id != shown?.id }.contains { $0.isOnItsWay(to: audience) }
        if coming {
            scoreNote = "Something newer is on its way."
        } else {
            scoreNote = content == nil ? "Apple has taken no content for it yet." : nil
        }
    }
}

extension Contract.Broadcast {
    /// The content for the audience's variant.
    fileprivate func content(for audience: Contract.EventAudience) -> [UInt8]? {
        let own = audience.variant.flatMap { message?.byVariant?[$0]?.contentState }
        return (own ?? message?.contentState).map { Array($0.bytes) }
    }

    fileprivate func isAccepted(by audience: Contract.EventAudience) -> Bool {
        deliveries.contains { $0.isFor(audience) && $0.state == .accepted }
    }

    fileprivate func isOnItsWay(to audience: Contract.EventAudience) -> Bool {
        deliveries.contains { $0.isFor(audience) && !$0.state.isSettled }
    }

    /// Whether nothing of the broadcast has been sent yet, so that it can be withdrawn.
    var isWithdrawable: Bool {
        state == .scheduled
            || state == .queued
                && deliveries.allSatisfy { $0.timestamp == nil && [.waiting, .queued].contains($0.state) }
    }
}

extension Contract.Delivery {
    /// Ignores the environment, because one card shows an app and variant for both environments.
    fileprivate func isFor(_ audience: Contract.EventAudience) -> Bool {
        bundleId == audience.bundleId && variant == audience.variant
    }
}
