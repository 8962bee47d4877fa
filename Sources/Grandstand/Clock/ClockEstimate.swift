package import FoundationEssentials

/// An estimate of another machine's clock, from a steady clock of our own and recent samples of the other clock.
///
/// The sample with the shortest round trip is the most exact. If a new sample contradicts the most exact sample, the
/// other clock was set, or another machine answers now. The earlier samples are then dropped.
package struct ClockEstimate: Sendable, Hashable {
    /// The number of samples that are kept.
    static let maxSamples = 8

    private var samples: [ClockSample] = []

    package init() {}

    package mutating func add(_ sample: ClockSample) {
        if let best, !best.offsets.overlaps(sample.offsets) { samples = [] }
        samples.append(sample)
        if samples.count > Self.maxSamples { samples.removeFirst() }
    }

    private var best: ClockSample? { samples.min { $0.roundTrip < $1.roundTrip } }

    /// Seconds since 1970 on the other clock when the steady clock stood at zero, off by half a round trip at most;
    /// `nil` before the first sample.
    package var offset: TimeInterval? { best.map { ($0.offsets.lowerBound + $0.offsets.upperBound) / 2 } }
}
