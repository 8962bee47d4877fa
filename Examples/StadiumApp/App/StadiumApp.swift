import Foundation
import GrandstandLiveActivities
import SwiftUI

@main
struct StadiumApp: App {
    /// There is one object for the whole app. The key has the scope `device` and works only for this app; see
    /// README.md.
    static let activities = try? LiveActivities(
        server: URL(string: "https://grandstand.example.com")!, key: "gs_the-key-of-this-app",
        types: [ActivityType(MatchAttributes.self, eventKey: \.eventKey)])

    /// Called at each launch, also in the background, because a push may have started an activity.
    init() { Task { await Self.activities?.start() } }

    var body: some Scene {
        WindowGroup { FixtureList(activities: Self.activities) }
    }
}
