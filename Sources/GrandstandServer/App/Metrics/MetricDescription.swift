/// The description of a metric: a row of docs/metrics.md, which is compiled into the program.
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

    /// - Parameter row: a line of the page; `nil`: it is no row of a metric.
    init?(row: Substring) {
        let cells = row.split(separator: " | ", maxSplits: 3)
        guard row.hasPrefix("| `grandstand_"), cells.count == 4, let kind = Kind(rawValue: String(cells[1])) else {
            return nil
        }
        let name = String(cells[0].dropFirst(3).dropLast())
        self.init(
            name, kind, labels: cells[2].split(separator: "`").filter { $0.first?.isLetter ?? false }.map(String.init),
            bounds: name == "grandstand_accept_to_apns_seconds" ? Self.deliveryBounds : nil,
            String(cells[3].dropLast(2)))
    }

    /// Every metric of `GET /metrics`, in the order of the page.
    static let all = (EmbeddedFiles.texts["metrics.md"] ?? "").split(separator: "\n").compactMap(Self.init(row:))

    /// The smallest bound in seconds is for a push that is sent right after its commit, the largest for a push that
    /// waited until an outage ended.
    private static let deliveryBounds: [Double] = [
        0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
    ]
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
