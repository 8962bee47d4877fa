internal import APNsWire
internal import JSON

extension DeliveryPlan {
    /// The work that the checks of one message may take.
    private static let mostWork = 500_000

    /// Checks the contents against the content types of their audiences.
    ///
    /// - Parameters:
    ///   - types: the content types of the audiences that have one.
    ///   - missing: audiences that name a type that their app does not have.
    /// - Throws: `content-mismatch` if a content type refuses a content.
    package mutating func check(
        by types: [Audience.ID: ContentType], missing: [Audience.ID: String] = [:]
    ) throws(Problem) {
        guard !types.isEmpty || !missing.isEmpty else { return }
        var faults: [FieldError] = []
        var mild: [FieldError] = []
        var budget = ContentSchema.Budget(units: Self.mostWork)
        // The faults of each content that was checked. Most audiences share a content and a type, so each pair is
        // checked once.
        var checked: [ContentCheckKey: [FieldError]] = [:]
        for item in items {
            let variant = item.audience.variant
            guard let type = types[item.audience.id], let contentState = request.payload(for: variant).contentState
            else { continue }
            let own = variant.flatMap { request.byVariant[$0.rawValue]?.contentState } != nil
            let key = ContentCheckKey(
                bundleID: type.bundleID, attributesType: type.attributesType, variant: own ? variant : nil)
            let found =
                checked[key]
                ?? type.faults(
                    of: contentState,
                    at: (own ? JSONText.pointer(["byVariant", variant?.rawValue ?? ""]) : "") + "/contentState",
                    spending: &budget)
            checked[key] = found
            for fault in found {
                if type.refuses {
                    if !faults.contains(fault) { faults.append(fault) }
                } else if !mild.contains(fault) {
                    mild.append(fault)
                }
            }
        }
        guard faults.isEmpty else { throw .contentMismatch(faults) }
        warnings += mild.prefix(5).map { "\($0.pointer): \($0.detail)" }
        if mild.count > 5 { warnings.append("\(mild.count - 5) more places of contentState cannot be decoded.") }
        for (audience, name) in missing.sorted(by: { $0.value < $1.value })
        where items.contains(where: { $0.audience.id == audience }) {
            warnings.append(
                "\(audience.words) names the content type \(JSONText.quoted(name)), which the app does not have. The "
                    + "content is not checked, and no change sends an alert. Declare it first with PUT "
                    + "/v1/apps/\(audience.bundleID)/contents/…."
            )
        }
    }
}

/// What the result of a content's check depends on, within one message.
private struct ContentCheckKey: Hashable {
    var bundleID: BundleID
    var attributesType: String
    /// `nil`: the content of all variants that have none of their own.
    var variant: Variant?
}
