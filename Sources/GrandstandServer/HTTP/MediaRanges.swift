/// The media types that a client accepts, with their weights: the header `Accept` (RFC 9110, 12.5.1).
struct MediaRanges {
    /// The weight of each range. Ranges are in lower case and without parameters.
    private var weights: [String: Double] = [:]

    /// Ignores ranges that cannot be parsed.
    init(_ accept: String) {
        for range in accept.lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let name = parts.first, let weight = Self.weight(parts.dropFirst()) else { continue }
            weights[name] = max(weights[name] ?? 0, weight)
        }
    }

    private static func weight(_ parameters: ArraySlice<String>) -> Double? {
        guard let text = parameters.last(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1 }
        return Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    /// The weight from 0 (not accepted) to 1, taken from the most specific range.
    func weight(of type: String) -> Double {
        let group = type.prefix { $0 != "/" } + "/*"
        return weights[type] ?? weights[String(group)] ?? weights["*/*"] ?? 0
    }
}
