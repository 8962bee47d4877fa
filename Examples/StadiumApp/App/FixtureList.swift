import GrandstandLiveActivities
import SwiftUI

struct FixtureList: View {
    let activities: LiveActivities?
    @State private var status = LiveActivitiesStatus()
    @State private var problem = ""

    var body: some View {
        NavigationStack {
            List {
                Section("Today") {
                    ForEach(Fixture.today) { fixture in row(fixture) }
                }
                Section("Server") {
                    Text(line).font(.caption).foregroundStyle(.secondary)
                    if !problem.isEmpty { Text(problem).font(.caption) }
                }
            }
            .navigationTitle("Stadium")
        }
        .task {
            guard let activities else {
                problem = "Add the capability Push Notifications to the app."
                return
            }
            for await status in await activities.statuses() { self.status = status }
        }
    }

    private func row(_ fixture: Fixture) -> some View {
        VStack(alignment: .leading, spacing: 8) {
            Text("\(fixture.home) – \(fixture.away)").font(.headline)
            Toggle("Follow both teams", isOn: follows(fixture))
            Button(isShown(fixture) ? "On the lock screen" : "Show on the lock screen") { show(fixture) }
                .disabled(isShown(fixture) || !status.areActivitiesEnabled)
        }
    }

    private func isShown(_ fixture: Fixture) -> Bool {
        status.waitingFor.contains(fixture.id)
            || status.activities.values.contains { $0.eventKey == fixture.id && $0.state.isLive }
    }

    private func follows(_ fixture: Fixture) -> Binding<Bool> {
        Binding {
            Set(status.topics).isSuperset(of: fixture.topics)
        } set: { isOn in
            attempt { activities in
                if isOn {
                    try await activities.follow(fixture.topics)
                } else {
                    try await activities.unfollow(fixture.topics)
                }
            }
        }
    }

    private func show(_ fixture: Fixture) {
        attempt { activities in
            try await activities.show(
                MatchAttributes(fixture), event: fixture.id, state: MatchScore(home: 0, away: 0))
        }
    }

    private func attempt(_ action: @escaping @Sendable (LiveActivities) async throws -> Void) {
        guard let activities else { return }
        Task {
            do {
                try await action(activities)
                problem = ""
            } catch {
                problem = "\(error)"
            }
        }
    }

    private var line: String {
        switch status.phase {
        case .idle: "Not started"
        case .uploading: "Saying what you follow …"
        case .upToDate: "The server knows what you follow."
        case .waiting(let why): "Tried again soon: \(why)"
        case .keyRefused: "Please update the app."
        case .refused(let why): "The server refuses: \(why)"
        case .locked: "Waiting for the first unlock."
        case .forgotten: "Everything is forgotten."
        }
    }
}
