package import FoundationEssentials

/// An estimate of another machine's clock, from a steady clock of our own and recent samples of the other.
///
/// The look with the shortest round trip says most. One that contradicts it says that the other clock was set, or that
/// another machine answers now: what was known before counts no more.
package struct ClockEstimate: Sendable, Hashable {
    /// Looks that are remembered.
    static let remembered = 8

    private var samples: [ClockSample] = []

    package init() {}

    package mutating func add(_ sample: ClockSample) {
        if let best, !best.origins.overlaps(sample.origins) { samples = [] }
        samples.append(sample)
        if samples.count > Self.remembered { samples.removeFirst() }
    }

    private var best: ClockSample? { samples.min { $0.roundTrip < $1.roundTrip } }

    /// Seconds since 1970 on the other clock when the steady one stood at zero, off by half a round trip at most; `nil`
    /// before the first look.
    package var origin: TimeInterval? { best.map { ($0.origins.lowerBound + $0.origins.upperBound) / 2 } }
}
