/// The description of a metric.
struct MetricDescription: Sendable, Hashable {
    enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    let name: String
    let kind: Kind
    /// The names of the labels, in the order of the documentation.
    let labels: [String]
    /// One sentence, for people.
    let help: String
    /// The upper bounds of a histogram's buckets; `nil`: the default bounds.
    let bounds: [Double]?

    init(_ name: String, _ kind: Kind, labels: [String] = [], bounds: [Double]? = nil, _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.bounds = bounds
    }
}

/// One value of a gauge that is computed for each scrape.
struct GaugeSample: Sendable {
    let name: String
    let labels: [(String, String)]
    let value: Double

    init(_ name: String, _ labels: [(String, String)], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// A value without labels.
    init(_ name: String, _ value: Double) { self.init(name, [], value) }
}
