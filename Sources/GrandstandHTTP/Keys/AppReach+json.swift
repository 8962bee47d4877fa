internal import Grandstand
internal import JSON

extension JSONFields {
    /// The apps that a body binds a thing to: `bundleId`, or `bundleIds` for several; without either, all.
    mutating func reach() -> AppReach {
        let one = read("bundleId", BundleID.rule, BundleID.init)
        guard let elements = array("bundleIds", count: 1...AppReach.maximumApps) else {
            return AppReach(of: one.map { [$0] })
        }
        if one != nil { fault("bundleIds", "Give bundleId or bundleIds, not both.") }
        var apps: [BundleID] = []
        for (value, pointer) in elements {
            guard case .string(let text) = value.kind, let app = BundleID(rawValue: text) else {
                fault(at: pointer, BundleID.rule)
                continue
            }
            if apps.contains(where: { $0.topic == app.topic }) { fault(at: pointer, "\(app) stands twice.") }
            apps.append(app)
        }
        return .only(Set(apps))
    }
}
