/// The description of a metric.
package struct MetricDescription: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package let name: String
    package let kind: Kind
    /// The names of the labels, in the order of the documentation.
    package let labels: [String]
    /// One sentence, for people.
    package let help: String
    /// The upper bounds of a histogram's buckets; `nil`: the default bounds.
    package let bounds: [Double]?

    package init(_ name: String, _ kind: Kind, labels: [String] = [], bounds: [Double]? = nil, _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.bounds = bounds
    }
}

/// One value of a gauge that is computed for each scrape.
package struct GaugeSample: Sendable {
    package let name: String
    package let labels: [(String, String)]
    package let value: Double

    package init(_ name: String, _ labels: [(String, String)], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// A value without labels.
    package init(_ name: String, _ value: Double) { self.init(name, [], value) }
}
