internal import APNsWire
package import FoundationEssentials

/// Decides which unmanaged channels were made by creations that got no answer. Pure.
///
/// Channels have no names, so only time distinguishes them. A channel belongs to a creation only if a complete list
/// shortly before the call did not have the channel, and if the number of such channels is not greater than the number
/// of calls. Otherwise another system may have made the channel. In this case the channel is not assigned, and the
/// creations are tried again.
package struct CreationMatch: Sendable {
    /// Calls with the channels that they made.
    package private(set) var settled: [(call: Channel, channel: UnmanagedChannel)] = []
    /// Calls that must be made again.
    package private(set) var callsToRepeat: [Channel] = []
    /// Channels that a call or another system may have made.
    package private(set) var contested: [UnmanagedChannel] = []

    /// A list without a channel is proof for a call only if it was read at most this many seconds before the call.
    package static let longestListAge: TimeInterval = 60
    /// Seconds that a call waits for a complete list whose channels can be read. After this time the call is made
    /// again, because an event without a channel is worse than a channel that people have to look at.
    package static let settleTimeout: TimeInterval = 60

    /// - Parameters:
    ///   - calls: the calls whose outcome the list shows.
    ///   - free: channels that no call under way can have made.
    ///   - undecided: channels that a call under way may be making.
    ///   - isWhole: whether the list has every channel that Apple has.
    init(
        _ calls: [Channel], free: [UnmanagedChannel], undecided: [UnmanagedChannel], isWhole: Bool,
        listedAt: Date
    ) {
        for policy in StoragePolicy.allCases {
            let calls = calls.filter { $0.storagePolicy == policy }
                .sorted { ($0.calledAt ?? .distantPast) < ($1.calledAt ?? .distantPast) }
            let isFit = { (channel: UnmanagedChannel) in (channel.storagePolicy ?? policy) == policy }
            match(
                calls, free.filter(isFit).filter { channel in calls.contains { $0.mayHaveMade(channel) } },
                undecided: undecided.filter(isFit), isWhole: isWhole, listedAt: listedAt)
        }
    }

    /// Matches the calls of one storage policy with channels. Each channel has this policy, or its policy was not read.
    /// For each channel, at least one of the calls may have made it.
    private mutating func match(
        _ calls: [Channel], _ channels: [UnmanagedChannel], undecided: [UnmanagedChannel], isWhole: Bool,
        listedAt: Date
    ) {
        guard isWhole, channels.allSatisfy({ $0.storagePolicy != nil }) else {
            let late = calls.filter { call in
                call.settleableAt.map { $0.addingTimeInterval(Self.settleTimeout) <= listedAt } ?? false
            }
            callsToRepeat += late
            contest(channels.filter { channel in late.contains { $0.mayHaveMade(channel) } })
            return
        }
        let pairs = Self.pairs(calls, channels)
        if pairs == nil { contest(channels) }
        for (index, call) in calls.enumerated() {
            if let channel = pairs?[index] {
                settled.append((call, channels[channel]))
            } else if pairs == nil && channels.contains(where: call.mayHaveMade)
                || !undecided.contains(where: call.mayHaveMade)
            {
                callsToRepeat.append(call)
            }
        }
    }

    private mutating func contest(_ channels: [UnmanagedChannel]) {
        for channel in channels where !contested.contains(where: { $0.channelID == channel.channelID }) {
            contested.append(channel)
        }
    }

    /// Finds a different call for every channel. Maps the index of the call to the index of the channel. `nil`: there
    /// is no call for some channels, so other systems made these channels.
    private static func pairs(_ calls: [Channel], _ channels: [UnmanagedChannel]) -> [Int: Int]? {
        var channelOfCall: [Int: Int] = [:]
        // Kuhn's augmenting paths: a call gives up its channel if that channel finds another call.
        func place(_ channel: Int, _ tried: inout Set<Int>) -> Bool {
            for call in calls.indices where calls[call].hasLikelyMade(channels[channel]) && tried.insert(call).inserted
            {
                if let other = channelOfCall[call], !place(other, &tried) { continue }
                channelOfCall[call] = channel
                return true
            }
            return false
        }
        let ordered = channels.indices.sorted { channels[$0].firstSeenAt < channels[$1].firstSeenAt }
        for channel in ordered {
            var tried: Set<Int> = []
            guard place(channel, &tried) else { return nil }
        }
        return channelOfCall
    }
}

extension Channel {
    /// Whether this creation can have made the channel. The channel must have been seen first at `calledAt` or later.
    /// If a list without the channel is known, Apple must have been asked for this list before `settleableAt`.
    func mayHaveMade(_ channel: UnmanagedChannel) -> Bool {
        guard let calledAt, calledAt <= channel.firstSeenAt else { return false }
        return (channel.lackedAt ?? .distantPast) < (settleableAt ?? .distantFuture)
    }

    /// Whether this creation can have made the channel (`mayHaveMade`), and a list shortly before the call did not have
    /// the channel.
    fileprivate func hasLikelyMade(_ channel: UnmanagedChannel) -> Bool {
        guard mayHaveMade(channel), let calledAt, let lackedAt = channel.lackedAt else { return false }
        return lackedAt >= calledAt.addingTimeInterval(-CreationMatch.longestListAge)
    }
}
