/// A metric's description beside its numbers.
package struct MetricDescription: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package let name: String
    package let kind: Kind
    /// In the order in which the documentation names them.
    package let labels: [String]
    /// One sentence, for people.
    package let help: String
    /// Upper bounds of a histogram's buckets; `nil`: those of every other.
    package let bounds: [Double]?

    package init(_ name: String, _ kind: Kind, labels: [String] = [], bounds: [Double]? = nil, _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.bounds = bounds
    }
}

/// One number of a gauge that is known at the moment it is asked for and not before.
package struct GaugeSample: Sendable {
    package let name: String
    package let labels: [(String, String)]
    package let value: Double

    package init(_ name: String, _ labels: [(String, String)], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// Without labels.
    package init(_ name: String, _ value: Double) { self.init(name, [], value) }
}
