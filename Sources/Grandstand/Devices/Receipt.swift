package import FoundationEssentials

/// A state of an event that a phone showed, with the time by its own clock.
package struct Receipt: Sendable, Hashable {
    package var eventKey: EventKey
    /// `aps.timestamp` of the message.
    package var timestamp: Int
    package var shownAt: Date

    package init(eventKey: EventKey, timestamp: Int, shownAt: Date) {
        self.eventKey = eventKey
        self.timestamp = timestamp
        self.shownAt = shownAt
    }
}

/// Receipts as they arrive: with the sender's clock beside ours, by which theirs is corrected.
package struct ReceiptBatch: Sendable, Hashable {
    package var items: [Receipt]
    /// Seconds by which the sender's clock is ahead of ours, less the time of the request's way; `nil`: it did not say,
    /// and its times are taken as it corrected them.
    package var clockAhead: TimeInterval?

    /// - Parameter sentAt: the sender's clock when it sent them; `nil`: it corrected the times by the `Date` of our answers.
    package init(_ items: [Receipt], sentAt: Date?, arrivedAt: Date) {
        self.items = items
        clockAhead = sentAt.map { $0.timeIntervalSince(arrivedAt) }
    }

    /// When something was shown by our clock, as far as theirs is known.
    package func shownAt(_ receipt: Receipt) -> Date { receipt.shownAt.addingTimeInterval(-(clockAhead ?? 0)) }
}

/// Which installations are asked for receipts: a share of them, always the same ones.
package struct ReceiptSampling: Sendable, Hashable {
    /// 0 to 1.
    package let share: Double

    package init(share: Double) { self.share = share }

    /// Apps make UUIDs as they like, so their bits are mixed first.
    package func includes(_ id: UUID) -> Bool {
        let (high, low) = withUnsafeBytes(of: id.uuid) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return Double(Self.mix(high ^ Self.mix(low)) >> 11) < share * 0x1p53
    }

    /// The last steps of SplitMix64: each bit of what comes in changes half of what goes out.
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
