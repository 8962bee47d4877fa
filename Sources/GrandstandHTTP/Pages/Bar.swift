/// A bar of several parts, drawn as SVG, with a line where its limit is. Its text says the same.
struct Bar: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        /// Names the colour in the stylesheet.
        let kind: String
        let x: Int
        let width: Int
    }

    /// The drawing's width; what is drawn counts in it.
    static let width = 1_000

    let parts: [Part]
    /// `nil`: the bar has no limit, or ends there.
    let limitX: Int?
    let barText: String

    /// - Parameters:
    ///   - counts: parts from left to right; those of nothing are left out.
    ///   - total: how much the whole bar is.
    init(_ counts: [(kind: String, count: Int)], of total: Int, limit: Int? = nil, text: String) {
        let total = max(1, total, counts.reduce(0) { $0 + $1.count })
        var parts: [Part] = []
        var before = 0
        for (kind, count) in counts where count > 0 {
            let x = Self.width * before / total
            before += count
            // A single one of many is still to be seen.
            parts.append(Part(kind: kind, x: x, width: max(3, Self.width * before / total - x)))
        }
        self.parts = parts
        limitX = limit.flatMap { $0 < total ? Self.width * $0 / total : nil }
        barText = text
    }
}
