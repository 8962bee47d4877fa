internal import APNsWire
internal import JSON

extension DeliveryPlan {
    /// The work that the checks of one message may take.
    private static let mostWork = 500_000

    /// Checks the contents against the content types of their audiences.
    ///
    /// - Throws: `content-mismatch` if a content type refuses a content.
    mutating func checkContents() throws(Problem) {
        // By whether their type refuses the content.
        var faults: [Bool: [FieldError]] = [:]
        var budget = Self.mostWork
        // The faults of each content that was checked. Most audiences share a content and a type, so each pair is
        // checked once.
        var checked: [[String]: [FieldError]] = [:]
        for item in items {
            let variant = item.audience.variant
            guard let type = item.type, let contentState = draft.payload(for: variant).contentState else { continue }
            let own = variant.flatMap { draft.byVariant?[$0.rawValue]?.contentState == nil ? nil : $0.rawValue }
            let key = [type.bundleID.rawValue, type.attributesType, own ?? ""]
            let pointer = (own.map { PointerText.pointer(["byVariant", $0]) } ?? "") + "/contentState"
            let found = checked[key] ?? type.faults(of: contentState, at: pointer, spending: &budget)
            checked[key] = found
            for fault in found where faults[type.refuses]?.contains(fault) != true {
                faults[type.refuses, default: []].append(fault)
            }
        }
        if let refused = faults[true] { throw .contentMismatch(refused) }
        let mild = faults[false] ?? []
        warnings += mild.prefix(5).map { "\($0.pointer): \($0.detail)" }
        if mild.count > 5 { warnings.append("\(mild.count - 5) more places of contentState cannot be decoded.") }
        var warned: Set<Audience.ID> = []
        for item in items {
            guard let name = item.missingType, warned.insert(item.audience.id).inserted else { continue }
            warnings.append(
                "\(item.audience.id.words) names the content type \(name.quotedJSON), which the app does not have. The "
                    + "content is not checked, and no change sends an alert. Declare it first with PUT "
                    + "/v1/apps/\(item.audience.bundleID)/contents/…."
            )
        }
    }
}
