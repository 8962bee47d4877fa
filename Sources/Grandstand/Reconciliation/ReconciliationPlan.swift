package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// Compares Apple's list with the ledger. First `singleReads` returns the channels to read from Apple one by one. With
/// Apple's answers, `conclusions` decides the actions. Pure.
package struct ReconciliationPlan: Sendable {
    /// The result of reading one channel, if Apple gave a usable answer.
    package enum Reading: Sendable, Hashable {
        case exists(StoragePolicy)
        case gone
    }

    /// Channels that should be listed: they were active or retiring before the list was asked for.
    package let expected: [Channel]
    /// The number of the ledger's channels that Apple should or may still have, and that its list has.
    package let matched: Int
    /// Expected channels that are not listed.
    package let vanished: [Channel]
    /// Whether the list has none of the expected channels (even if only one was expected), and no message to one of
    /// them was refused with the reason that Apple does not know the channel. If `true`, Apple may have turned the
    /// app's Broadcast capability off, or sent the list of another app. In this case no channel is replaced, unless
    /// somebody requests new channels (`recreate`). If `false`, the channels that vanished are replaced. A refusal
    /// because of an unknown channel shows that the capability is on: an app without the capability does not get this
    /// refusal.
    package let everythingVanished: Bool
    /// Channels that are listed, although Apple refused a message to them before the list was asked for.
    package let doubted: [Channel]
    /// Channels that are listed and not in the ledger, except those that a creation under way may be making.
    package let unmanaged: [UnmanagedChannel]

    /// Every channel of the ledger that is not deleted, and the deleted channels that Apple still lists.
    package let entries: [Channel]
    /// When Apple was asked for the list.
    private let listedAt: Date
    private let listed: Set<String>
    /// Creations without an answer whose outcome the list shows.
    private let unanswered: [Channel]
    /// Unmanaged channels that a creation under way may be making: nothing is decided about them yet.
    private let beingMade: [UnmanagedChannel]

    /// - Parameters:
    ///   - entries: the ledger after the list was recorded.
    ///   - unmanaged: channels that Apple lists and the ledger does not know.
    package init(
        _ listing: ChannelListing, _ entries: [Channel], unmanaged seen: [UnmanagedChannel], listedAt: Date
    ) {
        self.entries = entries
        self.listedAt = listedAt
        let listed = Set(listing.channelIDs)
        self.listed = listed
        func isListed(_ entry: Channel) -> Bool { entry.channelID.map(listed.contains) ?? false }

        func isDoubted(_ entry: Channel) -> Bool { entry.doubtedAt ?? .distantFuture < listedAt }
        expected = entries.filter { Set.takesMessages.contains($0.state) && $0.changedAt < listedAt }
        vanished = expected.filter { !isListed($0) }
        everythingVanished =
            !expected.isEmpty && vanished.count == expected.count && !vanished.contains(where: isDoubted)
        doubted = expected.filter { isListed($0) && isDoubted($0) }
        matched = entries.count { Set.isAtApple.contains($0.state) && isListed($0) }

        let calls = entries.filter { $0.state == .creating && $0.calledAt != nil }
        unanswered = calls.filter { ($0.settleableAt ?? .distantFuture) <= listedAt }
            .sorted { ($0.calledAt ?? .distantPast) < ($1.calledAt ?? .distantPast) }
        let underWay = calls.filter { ($0.settleableAt ?? .distantFuture) > listedAt }
        let known = Set(entries.compactMap(\.channelID))
        let unknown = seen.filter { listed.contains($0.channelID) && !known.contains($0.channelID) }
        // A channel that was seen before a call began was not made by this call.
        func mayBeUnderWay(_ channel: UnmanagedChannel) -> Bool { underWay.contains { $0.mayHaveMade(channel) } }
        beingMade = unknown.filter(mayBeUnderWay)
        unmanaged = unknown.filter { !mayBeUnderWay($0) }
    }

    // MARK: Channels to read

    /// Channels to read one by one before anything is decided, at most `limit`. Channels that vanished, and channels to
    /// which Apple refused a message, are read to be sure. Channels that an unanswered creation may have made, and
    /// channels to be adopted or deleted, are read for their storage policy.
    package func singleReads(_ options: ReconciliationOptions, now: Date, limit: Int) -> [String] {
        if everythingVanished, !options.recreate { return [] }
        let ripe = options.apply && options.deleteUnmanaged ? Set(self.deletable(unmanaged, options, now)) : []
        let questions = unmanaged.filter { channel in
            channel.storagePolicy == nil
                && (options.apply && options.adopt || ripe.contains(channel)
                    || unanswered.contains { $0.mayHaveMade(channel) })
        }
        return Array(((vanished + doubted).compactMap(\.channelID) + questions.map(\.channelID)).prefix(limit))
    }

    /// Unmanaged channels whose grace is over, within the budget of deletions.
    private func deletable(
        _ channels: [UnmanagedChannel], _ options: ReconciliationOptions, _ now: Date, spent: Int = 0
    ) -> [UnmanagedChannel] {
        Array(
            channels.filter { $0.firstSeenAt.addingTimeInterval(options.grace) <= now }
                .prefix(max(0, options.deleteBudget - spent)))
    }

    // MARK: Actions

    /// The actions that follow from the list and the readings.
    package func conclusions(
        _ readings: [String: Reading], _ options: ReconciliationOptions, now: Date
    ) -> (actions: [ReconciliationAction], alarm: Contract.ReconciliationAlarm?) {
        if everythingVanished, !options.recreate {
            return (vanished.filter { $0.eventKey != nil }.map { .init(.recreate, $0) }, .capabilityOff)
        }
        var actions: [ReconciliationAction] = []
        var isIncomplete = false
        func reading(_ entry: Channel) -> Reading? { entry.channelID.flatMap { readings[$0] } }
        for entry in vanished {
            switch reading(entry) {
            case .gone: actions.append(.init(.markMissing, entry))
            case .exists:
                isIncomplete = true
                if entry.doubtedAt != nil { actions.append(.init(.confirm, entry)) }
            case nil: break
            }
        }
        // The list counts more than the reading of one channel: a doubted channel that is listed is confirmed, even if
        // Apple answered `gone` when the channel was read. But if the reading gave no usable answer, the channel is not
        // confirmed, because it is not known whether the list is current.
        actions += doubted.filter { reading($0) != nil }.map { .init(.confirm, $0) }
        let deletions = decideReturned(options, &actions)

        var free = unmanaged.filter { readings[$0.channelID] != .gone }
        for index in free.indices {
            if case .exists(let policy) = readings[free[index].channelID] { free[index].storagePolicy = policy }
        }
        let match = CreationMatch(
            unanswered, free: free, undecided: beingMade, isWhole: !isIncomplete, listedAt: listedAt)
        actions += match.settled.map { .init(.settle, $0.call, $0.channel) }
        actions += match.callsToRepeat.map { .init(.reopen, $0) }
        let settled = Set(match.settled.map(\.channel))
        free.removeAll(where: settled.contains)
        // An adopted channel gets a row in the ledger, and the row needs the storage policy. So with `apply` a channel
        // without a known policy is not adopted. Without `apply` no policy is read for adoption, and the plan shows
        // these channels, too.
        func take(_ name: Contract.ReconciliationActionName, _ channels: [UnmanagedChannel]) {
            let channels = channels.filter { $0.storagePolicy != nil || !options.apply }
            actions += channels.map { .init(name, nil, $0) }
            free.removeAll(where: Set(channels).contains)
        }
        if options.adopt { take(.adopt, free) }
        if options.deleteUnmanaged { take(.deleteUnmanaged, deletable(free, options, now, spent: deletions)) }
        let contested = match.contested.filter(free.contains)
        actions += contested.map { .init(.contest, nil, $0) }
        let isAmbiguous =
            !contested.isEmpty
            || free.contains { $0.isContested && $0.firstSeenAt.addingTimeInterval(Self.contestLasts) > now }
        return (actions, isIncomplete ? .listIncomplete : isAmbiguous ? .ambiguousCreation : nil)
    }

    /// Seconds for which a contested channel raises an alarm after it was first seen. A channel is contested if a
    /// creation without an answer, or another system, may have made it. After this time the channel is unmanaged like
    /// any other.
    private static let contestLasts: TimeInterval = 86_400

    /// Decides about channels that are listed although the ledger has them as missing or deleted. A channel is deleted
    /// again only if Apple confirmed its deletion. Devices may still follow the channels whose deletion was not
    /// confirmed.
    ///
    /// - Returns: the number of deletions.
    private func decideReturned(_ options: ReconciliationOptions, _ actions: inout [ReconciliationAction]) -> Int {
        var deletions = 0
        let present = entries.filter { $0.channelID.map(listed.contains) ?? false }
        let wanted = present.filter(\.isWanted)
        for entry in present {
            if entry.state == .missing { actions.append(.init(.restore, entry)) }
            // A deletion is examined only if it was recorded before the list was asked for.
            guard entry.state == .deleted, entry.changedAt < listedAt else { continue }
            if !entry.deletionConfirmed {
                // If several channels served one audience, the newest of them is restored.
                let newest = wanted.last { $0.eventKey == entry.eventKey && $0.variant == entry.variant }
                let serves = entry.eventKey != nil && newest?.id == entry.id
                actions.append(.init(serves ? .restore : .release, entry))
            } else if deletions < options.deleteBudget {
                actions.append(.init(.deleteAgain, entry))
                deletions += 1
            }
        }
        return deletions
    }
}
