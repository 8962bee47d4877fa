internal import APNsWire
internal import Foundation
internal import GrandstandTestKit

@testable internal import Grandstand
@testable internal import GrandstandServer

/// Values that the fake ports return in tests of routes.
enum Sample {
    static let id = known(UUID(uuidString: "11111111-2222-4333-8444-555555555555"))
    /// An ID that no object has.
    static let otherID = known(UUID(uuidString: "99999999-2222-4333-8444-555555555555"))
    static let stadium = known(BundleID(rawValue: "com.example.Stadium"))
    static let other = known(BundleID(rawValue: "com.example.Other"))
    static let derby = known(EventKey(rawValue: "derby"))

    static func app(_ bundleID: BundleID = stadium) -> AppSample {
        var app = known(try? AppSample.sample(bundleID.rawValue, at: RouteWorld.now))
        app.draft.name = "Stadium"
        return app
    }

    static let credentials = Credentials(teamID: "TEAM123456", keyID: "KEY1234567")

    static func known<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("a sample value is not valid for its type") }
        return value
    }
}
