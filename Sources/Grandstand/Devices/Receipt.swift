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

/// The receipts of a request, and the difference between the sender's clock and the server's. The difference corrects
/// the times of the receipts.
package struct ReceiptBatch: Sendable, Hashable {
    package var items: [Receipt]
    /// Seconds by which the sender's clock is ahead of the server's, minus the time that the request took. `nil`: the
    /// sender corrected the times itself.
    package var clockAhead: TimeInterval?

    /// - Parameter sentAt: when the sender sent the receipts, by its own clock; `nil`: the sender corrected the times
    ///   by the `Date` of answers.
    package init(_ items: [Receipt], sentAt: Date?, arrivedAt: Date) {
        self.items = items
        clockAhead = sentAt.map { $0.timeIntervalSince(arrivedAt) }
    }

    /// When the phone showed a message, by the server's clock if the difference is known.
    package func shownAt(_ receipt: Receipt) -> Date { receipt.shownAt.addingTimeInterval(-(clockAhead ?? 0)) }
}

/// Which installations are asked for receipts: a share of them, always the same ones.
package struct ReceiptSampling: Sendable, Hashable {
    /// 0 to 1.
    package let share: Double

    package init(share: Double) { self.share = share }

    /// Whether an installation is in the sample. Apps choose UUIDs as they like, so the bits are mixed first.
    package func includes(_ id: UUID) -> Bool {
        let (high, low) = withUnsafeBytes(of: id.uuid) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return Double(Self.mix(high ^ Self.mix(low)) >> 11) < share * 0x1p53
    }

    /// The last steps of SplitMix64: each bit of the input changes about half of the output's bits.
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
