internal import Grandstand

extension AppReach {
    /// The apps that a body names: one app in `bundleId`, or several apps in `bundleIds`. A body with neither of these
    /// fields means all apps.
    init(_ one: String?, _ several: [String]?, _ faults: inout RequestFaults) throws(Problem) {
        var apps: [BundleID] = []
        for (index, text) in (several ?? one.map { [$0] } ?? []).enumerated() {
            let app = try BundleID(allowed: text)
            if apps.contains(where: { $0.topic == app.topic }) {
                faults.add("/bundleIds/\(index)", "\(app) stands twice.")
            }
            apps.append(app)
        }
        self = apps.isEmpty ? .all : .only(Set(apps))
    }
}
