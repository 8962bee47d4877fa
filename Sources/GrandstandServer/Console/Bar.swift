/// A bar of several parts with a mark at the limit, drawn as SVG. `barText` says the same in words.
struct Bar: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        /// The part's class in the stylesheet.
        let kind: String
        let x: Int
        let width: Int
    }

    /// The drawing's width, in its own units.
    static let width = 1_000

    let parts: [Part]
    /// The mark's position; `nil`: there is no limit, or the limit is at the bar's end.
    let limitX: Int?
    let barText: String

    /// - Parameters:
    ///   - counts: the parts from left to right. A part with the count 0 is left out.
    ///   - total: the number that fills the whole bar.
    init(_ counts: [(kind: String, count: Int)], of total: Int, limit: Int? = nil, text: String) {
        let total = max(1, total, counts.reduce(0) { $0 + $1.count })
        var parts: [Part] = []
        var before = 0
        for (kind, count) in counts where count > 0 {
            let x = Self.width * before / total
            before += count
            // A part is at least 3 wide, so that a small count stays visible.
            parts.append(Part(kind: kind, x: x, width: max(3, Self.width * before / total - x)))
        }
        self.parts = parts
        limitX = limit.flatMap { $0 < total ? Self.width * $0 / total : nil }
        barText = text
    }
}
